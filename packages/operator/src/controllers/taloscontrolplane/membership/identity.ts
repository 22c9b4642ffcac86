import { machineFact } from "../record/facts.ts";
import type { ClusterFacts, MachineFact } from "../../../model/record.ts";
import type { MachineName } from "../../../model/machine.ts";

/**
 * True when a machine shows another SMBIOS UUID than was written down for it. Where either has none, as in containers, nothing is known.
 */
export function isOtherMachine(writtenDown: string, shown: string | undefined): boolean {
  return writtenDown !== "" && shown !== undefined && shown !== writtenDown;
}

/** Whether a machine's UUID is its own, is shown by another machine of the cluster too, or is one that vendors ship by the thousand. */
export type IdentityKind = "own" | "shared" | "vendor" | "none";

/** How far the UUID that was written down tells this machine from others. */
export function identityOf(facts: Pick<ClusterFacts, "machines">, fact: MachineFact): IdentityKind {
  if (fact.uuid === "") return "none";
  if (isVendorUuid(fact.uuid)) return "vendor";
  return facts.machines.some((other) => other.name !== fact.name && other.releasedAt === undefined && other.uuid === fact.uuid)
    ? "shared"
    : "own";
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
  const isShared = facts?.machines.some((other) => other.name !== name && other.releasedAt === undefined && other.uuid === own) === true;
  return own === "" || isVendorUuid(own) || isShared ? name : own;
}
