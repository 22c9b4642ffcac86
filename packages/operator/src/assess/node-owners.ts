import { canonicalAddress } from "@talos-operator/api";
import { isNodeOf, isSameMachine, nodeCalled, nodeNamedBy, ownersOf } from "../workload/seen-node.ts";
import { withoutAwaited } from "../report/awaited-network.ts";
import { isReadyNode } from "./machine-state.ts";
import { indexOfMachines } from "../record/facts-index.ts";
import { intentOn } from "../record/facts.ts";
import type { MachineName } from "../model/machine.ts";
import type { SeenNode } from "../model/workload.ts";
import type { ClusterFacts, MachineFact } from "../model/record.ts";
import type { AssessedMachine, Assessment } from "../model/assessment.ts";
import type { Cordoned, FormerName, LeftNode } from "../model/plans.ts";

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
    // One that has another name by now left its cordon with its Node, which goes.
    if (own !== undefined) return isRenamedFrom(known, own) ? [] : [{ fact, node: own, isReady: undefined, up }];
    const listed = nodeNamedBy(nodes, known?.look ?? UNSEEN, fact);
    return listed?.isCordonedByUs === true ? [{ fact, node: listed.name, isReady: isWaiting ? undefined : listed.isReady, up }] : [];
  });
}

const UNSEEN = { kind: "not-asked" } as const;

function isRenamedFrom(machine: AssessedMachine | undefined, node: string): boolean {
  return machine?.look.kind === "running" && machine.look.nodeName !== undefined && machine.look.nodeName !== node;
}

/** Nodes of machines that were released, and are not asked for again, and those that machines had before they got another name. */
export function leftNodes(assessed: Assessment, facts: ClusterFacts): readonly LeftNode[] {
  const renamed = assessed.formerNames.filter(({ isProven }) => isProven);
  return [...leftByReleased(assessed, facts), ...renamed.map(({ fact, node, renamedTo }) => ({ fact, node, renamedTo }))];
}

function leftByReleased({ seen, byName }: Assessment, facts: ClusterFacts): readonly LeftNode[] {
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
 * Nodes that fit a machine which has another Node by now. Never one that another machine reports, or was last heard to have: what it does not say now it may say
 * again. Nor one of a machine that is no ready node under its new name: it may take its former one back.
 */
export function formerNames(assessed: Assessment, facts: ClusterFacts): readonly FormerName[] {
  const { seen, byName } = assessed;
  const nodes = seen.nodes?.nodes ?? [];
  const named = namedNodes(assessed);
  if (nodes.every(({ name }) => named.has(name))) return [];
  const staying = indexOfMachines(facts).staying;
  return nodes.flatMap((node): readonly FormerName[] => {
    if (named.has(node.name)) return [];
    const [fact, ...others] = ownersOf(staying, node);
    const machine = fact === undefined || others.length > 0 ? undefined : byName.get(fact.name);
    if (fact === undefined || machine?.isListed !== true || !machine.isReady || machine.look.kind !== "running") return [];
    // What is tried may be taken back.
    if (machine.intents.length > 0) return [];
    const own = nodeCalled(nodes, machine.look.nodeName);
    if (own?.isReady !== true || !isNodeOf(own, fact)) return [];
    return [{ fact, node, renamedTo: own.name, isProven: machine.identity === "own" && isFormerName(facts, fact.name, node, own) }];
  });
}

/** The record has one machine that the Node fits, and that machine's Node of now proves to be of the same. */
export function isFormerName(facts: ClusterFacts, machine: MachineName, node: SeenNode, own: SeenNode): boolean {
  const [fact, ...others] = ownersOf(indexOfMachines(facts).staying, node);
  return fact?.name === machine && others.length === 0 && node.name !== own.name && own.isReady && isSameMachine(node, own, fact);
}

/** Nodes that machines report, and those that machines last reported which say nothing now. */
function namedNodes({ seen, machines, former }: Assessment): ReadonlySet<string> {
  const silent = new Set<string>();
  const named = new Set<string>();
  for (const { declared, look } of [...machines, ...former])
    if (look.kind === "running" && look.nodeName !== undefined) named.add(look.nodeName);
    else silent.add(declared.name);
  for (const { metadata, status } of seen.machineObjects)
    if (silent.has(metadata.name) && status?.nodeName !== undefined) named.add(status.nodeName);
  return named;
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
