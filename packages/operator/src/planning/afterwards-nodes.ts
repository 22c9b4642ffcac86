import { isNodeOf, nodeOf } from "../workload/seen-node.ts";
import { isReadyNode } from "../assess/machine-state.ts";
import { withoutDrain } from "./afterwards-machines.ts";
import { takesPods } from "./takes-pods.ts";
import { factsOf, machineFact } from "../record/facts.ts";
import type { SeenNode } from "../model/workload.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";

/** A Node whose kubelet has just gone is not listed anew: a plan takes what was seen. */
export function withNodes(seen: Observed, change: (nodes: readonly SeenNode[]) => readonly SeenNode[]): Observed {
  const cordoned = seen.nodes?.cordoned ?? new Map<MachineName, string>();
  const listed = { at: seen.now, isAsking: false, isStale: false, cordoned, nodes: change(seen.nodes?.nodes ?? []) };
  // Where this process runs stays found.
  return { ...seen, nodes: { ...listed, ...(seen.nodes?.own === undefined ? {} : { own: seen.nodes.own }) } };
}

/** The Node of a machine has our cordon. */
export function withCordon(seen: Observed, machine: MachineName): Observed {
  const fact = machineFact(factsOf(seen), machine);
  const node = fact === undefined ? undefined : nodeOf(seen.nodes?.nodes ?? [], fact);
  if (seen.nodes === undefined || node === undefined) return seen;
  return { ...seen, nodes: { ...seen.nodes, cordoned: new Map([...seen.nodes.cordoned, [machine, node.name]]) } };
}

/** Our cordon is off. */
export function withoutCordon(seen: Observed, machine: MachineName, node: string): Observed {
  const listed = withNodes(seen, (nodes) => nodes.map((one) => (one.name === node ? { ...one, isCordonedByUs: false } : one)));
  const left = [...(listed.nodes?.cordoned ?? [])].filter(([name]) => name !== machine);
  return listed.nodes === undefined ? listed : { ...listed, nodes: { ...listed.nodes, cordoned: new Map(left) } };
}

/**
 * Before Nodes were listed: each machine that says it is a ready node is taken to have one of its own, with the taints that its settings give it. Pure.
 */
export function withAssumedNodes(seen: Observed): Observed {
  const facts = factsOf(seen);
  if (seen.nodes === undefined || seen.nodes.nodes !== undefined || facts?.bootstrapDone === undefined) return seen;
  const nodes = [...seen.machines, ...seen.former].flatMap((machine): readonly SeenNode[] => {
    const { name, address } = machine.declared;
    if (!isReadyNode(machine)) return [];
    const uuid = (machineFact(facts, name)?.uuid ?? "").toLowerCase();
    return [
      {
        name: (machine.look.kind === "running" ? machine.look.nodeName : undefined) ?? `(the Node of ${name})`,
        uuid,
        addresses: [address],
        isReady: true,
        isSchedulable: takesPods(seen, machine),
        isCordonedByUs: false,
      },
    ];
  });
  return { ...seen, nodes: { ...seen.nodes, at: seen.now, nodes } };
}

/** A machine registers under another name: its drain is over, and its former Node stays until it is deleted. */
export function withRenamedNode(seen: Observed, name: MachineName, to: string): Observed {
  const fact = machineFact(factsOf(seen), name);
  const machines = seen.machines.map((machine) =>
    machine.declared.name === name && machine.look.kind === "running" ? { ...machine, look: { ...machine.look, nodeName: to } } : machine,
  );
  const renamed = { ...withoutDrain(seen, name), machines };
  const own = fact === undefined ? undefined : nodeOf(seen.nodes?.nodes ?? [], fact);
  if (seen.nodes === undefined || own === undefined) return renamed;
  return withNodes(renamed, (nodes) => [
    ...nodes.map((node) => (node === own ? { ...node, isReady: false } : node)),
    { ...own, name: to, isCordonedByUs: false },
  ]);
}

/** The kubelet of a machine that was reset reports no more. */
export function withoutKubelet(seen: Observed, name: MachineName): Observed {
  const fact = machineFact(factsOf(seen), name);
  const nodes = seen.nodes?.nodes;
  if (seen.nodes === undefined || nodes === undefined || fact === undefined) return seen;
  return { ...seen, nodes: { ...seen.nodes, nodes: nodes.map((node) => (isNodeOf(node, fact) ? { ...node, isReady: false } : node)) } };
}
