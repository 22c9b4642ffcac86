import type { SeenNode } from "../../../workload/seen-node.ts";
import type { Action, Observed } from "../model.ts";

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
