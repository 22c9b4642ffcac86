import { isNodeOf, nodeOf } from "../../workload/seen-node.ts";
import type { SeenNode } from "../../workload/seen-node.ts";
import { intentOn } from "./facts.ts";
import type { ClusterFacts, MachineFact } from "./facts.ts";
import type { Observed } from "./model.ts";

/** A machine whose Node has our cordon. */
export interface Cordoned {
  readonly fact: MachineFact;
  /** Name of the Node. */
  readonly node: string;
  /** Whether its kubelet reports it ready; `undefined` = not listed since. */
  readonly isReady: boolean | undefined;
}

/** Machines of the cluster whose Nodes have our cordon, although nothing is about to happen to them: no rule wants their drain, and no intent stands. */
export function idleCordons(seen: Observed, facts: ClusterFacts): readonly Cordoned[] {
  const nodes = seen.nodes?.nodes ?? [];
  return facts.machines.flatMap((fact): readonly Cordoned[] => {
    if (fact.releasedAt !== undefined || seen.drains?.has(fact.name) === true || intentOn(facts, fact.name) !== undefined) return [];
    const own = seen.nodes?.cordoned.get(fact.name);
    if (own !== undefined) return [{ fact, node: own, isReady: undefined }];
    const listed = nodeOf(nodes, fact);
    return listed?.isCordonedByUs === true ? [{ fact, node: listed.name, isReady: listed.isReady }] : [];
  });
}

/**
 * The machine that was let go and whose Node this is; `undefined` for a Node that fits a machine of the cluster, or none that was ever written down:
 * what people joined by hand is theirs.
 */
export function formerNodeOwner(facts: ClusterFacts, node: SeenNode): MachineFact | undefined {
  const fitting = facts.machines.filter((fact) => isNodeOf(node, fact));
  return fitting.some((fact) => fact.releasedAt === undefined) ? undefined : fitting[0];
}
