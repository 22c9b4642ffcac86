import type { MachineName } from "../model/machine.ts";
import type { ClusterFacts, IntentFact, MachineFact } from "../model/record.ts";

/** What is looked up in a list of machines again and again. */
export interface MachineIndex {
  readonly byName: ReadonlyMap<MachineName, MachineFact>;
  /** By SMBIOS UUID, in their order. */
  readonly byUuid: ReadonlyMap<string, readonly MachineFact[]>;
  /** Those that were released, in their order. */
  readonly released: readonly MachineFact[];
  /** Those that were not, in their order. */
  readonly staying: readonly MachineFact[];
}

/** Facts never change, they are replaced: an index is made once for each list, when it is first asked for, and goes with it. */
const machineIndexes = new WeakMap<readonly MachineFact[], MachineIndex>();
const intentIndexes = new WeakMap<readonly IntentFact[], ReadonlyMap<MachineName, readonly IntentFact[]>>();

/** The machines of a record by name and by UUID. */
export function indexOfMachines({ machines }: Pick<ClusterFacts, "machines">): MachineIndex {
  const known = machineIndexes.get(machines);
  if (known !== undefined) return known;
  const byName = new Map<MachineName, MachineFact>();
  for (const fact of machines) {
    // Of two of one name the first counts, as everywhere.
    if (!byName.has(fact.name)) byName.set(fact.name, fact);
  }
  const index = {
    byName,
    byUuid: Map.groupBy(machines, ({ uuid }) => uuid),
    released: machines.filter(({ releasedAt }) => releasedAt !== undefined),
    staying: machines.filter(({ releasedAt }) => releasedAt === undefined),
  };
  machineIndexes.set(machines, index);
  return index;
}

/** The open effects of a record by machine, in their order. */
export function indexOfIntents({ intents }: Pick<ClusterFacts, "intents">): ReadonlyMap<MachineName, readonly IntentFact[]> {
  const known = intentIndexes.get(intents);
  if (known !== undefined) return known;
  const index = Map.groupBy(intents, ({ machine }) => machine);
  intentIndexes.set(intents, index);
  return index;
}
