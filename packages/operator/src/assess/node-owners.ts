import { canonicalAddress } from "@talos-operator/api";
import { nodeOf, ownersOf } from "../workload/seen-node.ts";
import { withoutAwaited } from "../report/awaited-network.ts";
import { isReadyNode } from "./machine-state.ts";
import { indexOfMachines } from "../record/facts-index.ts";
import { intentOn } from "../record/facts.ts";
import type { SeenNode } from "../model/workload.ts";
import type { ClusterFacts, MachineFact } from "../model/record.ts";
import type { Assessment } from "../model/assessment.ts";
import type { Cordoned, LeftNode } from "../model/plans.ts";

/** Machines of the cluster whose Nodes have our cordon, although nothing is about to happen to them: no rule wants their drain, and no intent stands. */
export function idleCordons(assessed: Assessment, facts: ClusterFacts): readonly Cordoned[] {
  const { seen } = assessed;
  const nodes = seen.nodes?.nodes ?? [];
  const hasOwnCordon = nodes.some(({ isCordonedByUs }) => isCordonedByUs);
  if (!hasOwnCordon && (seen.nodes?.cordoned.size ?? 0) === 0) return [];
  return facts.machines.flatMap((fact): readonly Cordoned[] => {
    if (fact.releasedAt !== undefined || seen.drains?.has(fact.name) === true || intentOn(facts, fact.name) !== undefined) return [];
    const known = assessed.byName.get(fact.name);
    const named = known?.isListed === true ? known : undefined;
    const up = named !== undefined && isReadyNode(withoutAwaited(seen, facts, named)) ? named : undefined;
    const isWaiting = up !== undefined && !isReadyNode(up);
    const own = seen.nodes?.cordoned.get(fact.name);
    if (own !== undefined) return [{ fact, node: own, isReady: undefined, up }];
    const listed = nodeOf(nodes, fact);
    return listed?.isCordonedByUs === true ? [{ fact, node: listed.name, isReady: isWaiting ? undefined : listed.isReady, up }] : [];
  });
}

/** Nodes of machines that were released, and are not asked for again. */
export function leftNodes({ seen, byName }: Assessment, facts: ClusterFacts): readonly LeftNode[] {
  const { released } = indexOfMachines(facts);
  if (released.length === 0) return [];
  return (seen.nodes?.nodes ?? []).flatMap((node) => {
    // Most Nodes are those of machines that stay.
    const fact = ownersOf(released, node).length === 0 ? undefined : formerNodeOwner(facts, node);
    if (fact === undefined) return [];
    // It was released as it was, stands in the list again, and may still run: a kubelet does not register a Node twice. One that waits in maintenance mode was wiped.
    const again = byName.get(fact.name);
    return again?.isListed === true && again.look.kind !== "maintenance" ? [] : [{ fact, node }];
  });
}

/**
 * The machine that was released and whose Node this is; `undefined` for a Node that fits a machine of the cluster, or none that was ever written down:
 * what people joined by hand is theirs.
 */
export function formerNodeOwner(facts: ClusterFacts, node: SeenNode): MachineFact | undefined {
  const fitting = ownersOf(facts.machines, node);
  const isThere = ({ address }: MachineFact): boolean => node.addresses.includes(canonicalAddress(address));
  const former = fitting.filter(({ releasedAt }) => releasedAt !== undefined);
  const owner = fitting.length === former.length ? former[0] : former.find(isThere);
  if (owner === undefined) return undefined;
  // Clones show one UUID, and other hardware addresses; the same machine under another name shows the same ones.
  const isClone = (fact: MachineFact): boolean =>
    !isThere(fact) && fact.macs.length > 0 && owner.macs.length > 0 && !fact.macs.some((mac) => owner.macs.includes(mac));
  return fitting.every((fact) => fact.releasedAt !== undefined || isClone(fact)) ? owner : undefined;
}
