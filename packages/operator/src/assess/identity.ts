import { indexOfMachines } from "../record/facts-index.ts";
import { machineFact } from "../record/facts.ts";
import type { ClusterFacts, MachineFact } from "../model/record.ts";
import type { MachineName } from "../model/machine.ts";
import type { IdentityKind } from "../model/assessment.ts";

/**
 * True when a machine shows another SMBIOS UUID than was written down for it. Where either has none, as in containers, nothing is known.
 */
export function isOtherMachine(writtenDown: string, shown: string | undefined): boolean {
  return writtenDown !== "" && shown !== undefined && shown !== writtenDown;
}

/** How far the UUID that was written down tells this machine from others. */
export function identityOf(facts: Pick<ClusterFacts, "machines">, fact: MachineFact): IdentityKind {
  if (fact.uuid === "") return "none";
  if (isVendorUuid(fact.uuid)) return "vendor";
  return isSharedWithOthers(facts, fact.name, fact.uuid) ? "shared" : "own";
}

/** UUIDs that vendors ship by the thousand, or that stand for none. */
export function isVendorUuid(uuid: string): boolean {
  return /^0{8}-|^f{8}-/i.test(uuid) || uuid.toLowerCase() === "03000200-0400-0500-0006-000700080009";
}

/**
 * How a person names one machine in an annotation: by its UUID, and by its name where it has none or shares it with others, as cloned machines do.
 * A word for one machine must never act on two.
 *
 * @param uuid as the machine shows it now; `undefined` = as it was written down
 */
export function wordFor(facts: ClusterFacts | undefined, name: MachineName, uuid: string | undefined): string {
  const own = uuid ?? machineFact(facts, name)?.uuid ?? "";
  const isShared = facts !== undefined && isSharedWithOthers(facts, name, own);
  return own === "" || isVendorUuid(own) || isShared ? name : own;
}

function isSharedWithOthers(facts: Pick<ClusterFacts, "machines">, name: MachineName, uuid: string): boolean {
  return (
    indexOfMachines(facts)
      .byUuid.get(uuid)
      ?.some((other) => other.name !== name && other.releasedAt === undefined) === true
  );
}
