import { mayAskAgain } from "../../effects/define.ts";
import { taintNodes } from "../../effects/taint-nodes.ts";
import { untaintNodes } from "../../effects/untaint-nodes.ts";
import { upgradePlanOf } from "../../planning/upgrade-plan.ts";
import { isUpgrade, openRun } from "../../record/upgrades.ts";
import { nodeNamedBy } from "../../workload/seen-node.ts";
import type { SeenNode } from "../../model/workload.ts";
import type { Action } from "../../model/effect.ts";
import type { AssessedMachine, Assessment } from "../../model/assessment.ts";
import type { ClusterFacts, MachineFact } from "../../model/record.ts";

/** A Node, and whose it is as far as the record knows. */
interface Owned {
  readonly node: SeenNode;
  readonly fact: MachineFact | undefined;
  readonly machine: AssessedMachine | undefined;
}

/**
 * While an upgrade of Talos is under way, the Nodes of machines that are still to come bear a soft taint: pods that are evicted go to Nodes that are done, where there
 * are any, and are not evicted again. The taint itself is the memory: whatever ends a run, it goes wherever it stands and is not wanted.
 */
export function upgradeTaints(assessed: Assessment): readonly Action[] {
  const { seen, facts } = assessed;
  const listed = seen.nodes?.nodes;
  if (facts === undefined || listed === undefined) return [];
  const isOpen = openRun(facts) !== undefined && seen.controlPlane.metadata.deletionTimestamp === undefined;
  if (!isOpen && !listed.some(({ hasUpgradeTaint }) => hasUpgradeTaint === true)) return [];
  const owned = ownedOf(assessed, facts, listed);
  const toCome = isOpen ? stillToCome(assessed, owned) : new Set<Owned>();
  // Nothing is done to a machine that is paused.
  const free = owned.filter(({ fact }) => fact === undefined || seen.held?.has(fact.name) !== true);
  const off = offs(assessed, free, toCome, isOpen);
  return awaitsNodesOfRun(assessed) ? off : [...off, ...puts(assessed, free, toCome)];
}

/** A run is open, and the Nodes were not listed since it began: which of them pods may go to is not known yet. */
export function awaitsNodesOfRun({ seen, facts }: Assessment): boolean {
  const run = openRun(facts);
  if (run === undefined || seen.nodes === undefined) return false;
  // A clock that was ahead would have them listed again and again.
  return run.startedAt <= seen.now && seen.nodes.at < run.startedAt;
}

const UNSEEN = { kind: "not-asked" } as const;

function ownedOf({ byName }: Assessment, facts: ClusterFacts, listed: readonly SeenNode[]): readonly Owned[] {
  const byNode = new Map<string, MachineFact>();
  for (const fact of facts.machines) {
    const look = byName.get(fact.name)?.look ?? UNSEEN;
    const node = fact.releasedAt === undefined ? nodeNamedBy(listed, look, fact) : undefined;
    if (node !== undefined) byNode.set(node.name, fact);
  }
  return listed.map((node) => {
    const fact = byNode.get(node.name);
    return { node, fact, machine: fact === undefined ? undefined : byName.get(fact.name) };
  });
}

/** Those that take pods and have most boots before them: on a way of several hops pods go to whoever is further. */
function stillToCome({ seen }: Assessment, owned: readonly Owned[]): ReadonlySet<Owned> {
  const plan = upgradePlanOf(seen);
  const boots = new Map<string, number>();
  for (const hop of plan.kind === "hops" ? plan.hops : [])
    if (hop.kind === "talos") for (const { name } of hop.machines) boots.set(name, (boots.get(name) ?? 0) + 1);
  const takers = owned.filter(({ node }) => node.isSchedulable !== false);
  // With nowhere else to go a taint says nothing.
  if (takers.length < 2) return new Set();
  const bootsOf = ({ fact }: Owned): number => (fact === undefined ? 0 : (boots.get(fact.name) ?? 0));
  const most = Math.max(...takers.map(bootsOf));
  return new Set(takers.filter((one) => most > 0 && bootsOf(one) === most));
}

function puts({ seen }: Assessment, owned: readonly Owned[], toCome: ReadonlySet<Owned>): readonly Action[] {
  const nodes = owned.flatMap((one) => {
    const { node, fact } = one;
    if (fact === undefined || !toCome.has(one) || node.hasUpgradeTaint === true || seen.nodes?.tainted?.has(node.name) === true) return [];
    return [{ node: node.name, machine: fact.name, address: fact.address, ifUuid: fact.uuid }];
  });
  return nodes.length === 0 || !mayAskAgain(seen, taintNodes) ? [] : [{ kind: "TaintNodes", nodes }];
}

function offs({ seen }: Assessment, owned: readonly Owned[], toCome: ReadonlySet<Owned>, isOpen: boolean): readonly Action[] {
  const nodes = owned.flatMap((one) => {
    const { node, fact } = one;
    if (node.hasUpgradeTaint !== true || toCome.has(one) || (isOpen && isVersionUnknown(one))) return [];
    return [{ node: node.name, ...(fact === undefined ? {} : { machine: fact.name }) }];
  });
  return nodes.length === 0 || !mayAskAgain(seen, untaintNodes) ? [] : [{ kind: "UntaintNodes", nodes }];
}

/** It boots, or does not say what it runs: whether it is done is not known. */
function isVersionUnknown({ machine }: Owned): boolean {
  if (machine === undefined) return false;
  const { intents, look } = machine;
  return intents.some((intent) => isUpgrade(intent)) || look.kind !== "running" || look.version === undefined;
}
