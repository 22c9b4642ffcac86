import { isNodeOf, nodeOf } from "../../workload/seen-node.ts";
import type { SeenNode } from "../../workload/seen-node.ts";
import type { ClusterFacts, MachineFact } from "./facts.ts";

/** The Node of a machine that is part of the cluster; `undefined` when none or no single one fits. */
export function nodeOfMachine(nodes: readonly SeenNode[], fact: MachineFact): SeenNode | undefined {
  return nodeOf(nodes, fact);
}

/**
 * The machine that was let go and whose Node this is; `undefined` for a Node that fits a machine of the cluster, or none that was ever written down:
 * what people joined by hand is theirs.
 */
export function formerNodeOwner(facts: ClusterFacts, node: SeenNode): MachineFact | undefined {
  const fitting = facts.machines.filter((fact) => isNodeOf(node, fact));
  return fitting.some((fact) => fact.releasedAt === undefined) ? undefined : fitting[0];
}
