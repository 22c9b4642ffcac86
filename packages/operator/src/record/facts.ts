import { indexOfIntents, indexOfMachines } from "./facts-index.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";
import type { ClusterFacts, ConfiguredFact, DecisionFact, IntentFact, IntentKind, MachineFact, SnapshotFact } from "../model/record.ts";

/** Whether a snapshot is being taken: no control plane is begun to be disturbed until it is over. */
export function snapshotStands(facts: ClusterFacts | undefined, now: number): facts is ClusterFacts & { readonly snapshot: SnapshotFact } {
  return facts?.snapshot !== undefined && now < facts.snapshot.deadline;
}

/** Most decisions that a record keeps. */
const DECISIONS_KEPT = 50;

/** The facts with more decisions, the oldest dropped beyond {@link DECISIONS_KEPT}. */
export function withDecisions(facts: ClusterFacts, ...decisions: readonly DecisionFact[]): ClusterFacts {
  return { ...facts, decisions: [...facts.decisions, ...decisions].slice(-DECISIONS_KEPT) };
}

/** The open intent on a machine, of one kind where one is named, or `undefined`. */
export function intentOn(facts: ClusterFacts | undefined, name: MachineName, what?: IntentKind): IntentFact | undefined {
  if (facts === undefined || facts.intents.length === 0) return undefined;
  return indexOfIntents(facts)
    .get(name)
    ?.find((intent) => what === undefined || intent.what === what);
}

/** The one open intent on control planes, or `undefined`: while it is there no other control plane is disturbed. */
export function controlPlaneIntent(facts: ClusterFacts | undefined): IntentFact | undefined {
  return facts?.intents.find((intent) => intent.role === "controlplane");
}

/** The facts with one more intent. */
export function withIntent(facts: ClusterFacts, intent: IntentFact): ClusterFacts {
  return { ...facts, intents: [...facts.intents, intent] };
}

/** The facts without the intents on this machine, or without that of one kind: a machine that boots may have to be wiped meanwhile. */
export function withoutIntent(facts: ClusterFacts, name: MachineName, what?: IntentKind): ClusterFacts {
  return { ...facts, intents: facts.intents.filter((intent) => intent.machine !== name || (what !== undefined && intent.what !== what)) };
}

/** What the record says; `undefined` = there is none, or nobody could read it. */
export function factsOf({ record }: Pick<Observed, "record">): ClusterFacts | undefined {
  return record.kind === "present" ? record.value.facts : undefined;
}

/** The fact of one machine, or `undefined`. */
export function machineFact(facts: Pick<ClusterFacts, "machines"> | undefined, name: MachineName): MachineFact | undefined {
  return facts === undefined ? undefined : indexOfMachines(facts).byName.get(name);
}

/** Whether this cluster's configuration, and with it etcd data, may be on the machine; `undefined` = the record does not know it. */
export function mayHoldConfig(fact: MachineFact | undefined): fact is ConfiguredFact {
  return fact?.configuredAt !== undefined && fact.releasedAt === undefined;
}

/** The facts with several machines replaced or added; the order of names is kept, new ones come last. */
export function withMachines(facts: ClusterFacts, next: readonly MachineFact[]): ClusterFacts {
  if (next.length === 0) return facts;
  const changed = new Map(next.map((machine) => [machine.name, machine]));
  const kept = facts.machines.map((machine) => changed.get(machine.name) ?? machine);
  const { byName } = indexOfMachines(facts);
  return { ...facts, machines: [...kept, ...next.filter(({ name }) => !byName.has(name))] };
}

/** The facts with one machine's replaced or added; the order of names is kept, new ones come last. */
export function withMachine(facts: ClusterFacts, next: MachineFact): ClusterFacts {
  const index = facts.machines.findIndex((machine) => machine.name === next.name);
  return { ...facts, machines: index < 0 ? [...facts.machines, next] : facts.machines.with(index, next) };
}
