import { isNodeOf } from "../../../workload/seen-node.ts";
import { isReadyNode } from "../conditions/machine-state.ts";
import { factsOf, machineFact } from "../record/facts.ts";
import type { SeenNode } from "../../../model/workload.ts";
import type { Action } from "../../../model/effect.ts";
import type { MachineName } from "../../../model/machine.ts";
import type { Observed } from "../../../model/observation.ts";

/** An action on Nodes of the managed cluster. */
export type NodeAction = Extract<Action, { readonly kind: "CordonAndDrain" | "LookAtNodes" | "Uncordon" | "DeleteNode" }>;

/** What would be seen after an action on Nodes that goes as it should: no budget holds it up. Pure. */
export function afterwardsOnNodes(seen: Observed, action: NodeAction): Observed {
  switch (action.kind) {
    case "CordonAndDrain": {
      const drain = {
        startedAt: seen.now,
        askedAt: seen.now,
        ranMs: 0,
        unreachableMs: 0,
        state: { kind: "drained", at: seen.now },
      } as const;
      return { ...seen, drains: new Map([...(seen.drains ?? []), [action.machine, drain]]) };
    }
    case "LookAtNodes":
      return withNodes(seen, (nodes) => nodes);
    case "Uncordon":
      return withNodes(seen, (nodes) => nodes.map((node) => (node.name === action.node ? { ...node, isCordonedByUs: false } : node)));
    case "DeleteNode":
      return withNodes(seen, (nodes) => nodes.filter((node) => node.name !== action.node));
  }
}

/** A Node whose kubelet has just gone is not listed anew: a plan takes what was seen. */
function withNodes(seen: Observed, change: (nodes: readonly SeenNode[]) => readonly SeenNode[]): Observed {
  return { ...seen, nodes: { at: seen.now, isAsking: false, isStale: false, cordoned: new Map(), nodes: change(seen.nodes?.nodes ?? []) } };
}

/**
 * Before Nodes were listed: each machine that says it is a ready node is taken to have one of its own. Pure.
 */
export function withAssumedNodes(seen: Observed): Observed {
  const facts = factsOf(seen);
  if (seen.nodes === undefined || seen.nodes.nodes !== undefined || facts?.bootstrapDone === undefined) return seen;
  const nodes = [...seen.machines, ...seen.former].flatMap((machine): readonly SeenNode[] => {
    const { name, address } = machine.declared;
    if (!isReadyNode(machine)) return [];
    const uuid = (machineFact(facts, name)?.uuid ?? "").toLowerCase();
    return [{ name: `(the Node of ${name})`, uuid, addresses: [address], isReady: true, isCordonedByUs: false }];
  });
  return { ...seen, nodes: { ...seen.nodes, at: seen.now, nodes } };
}

/** The kubelet of a machine that was reset reports no more. */
export function withoutKubelet(seen: Observed, name: MachineName): Observed {
  const fact = machineFact(factsOf(seen), name);
  const nodes = seen.nodes?.nodes;
  if (seen.nodes === undefined || nodes === undefined || fact === undefined) return seen;
  return { ...seen, nodes: { ...seen.nodes, nodes: nodes.map((node) => (isNodeOf(node, fact) ? { ...node, isReady: false } : node)) } };
}
