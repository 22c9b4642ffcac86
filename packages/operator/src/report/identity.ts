import type { ReasonOf } from "@talos-operator/api";
import type { IdentityKind } from "../model/assessment.ts";
import type { MachineFact } from "../model/record.ts";

/** A condition's reason and message. */
interface Words<R extends string> {
  readonly reason: R;
  readonly message: string;
}

/**
 * How far the UUID of a machine tells it from others.
 *
 * @returns nothing for a machine without a UUID
 */
export function identityWords(
  identity: IdentityKind,
  { uuid, macs }: Pick<MachineFact, "uuid" | "macs">,
): Words<ReasonOf<"IdentityUnique">> | undefined {
  // A machine need not tell its hardware addresses.
  const by = (whom: string): string => (macs.length === 0 ? "" : ` Hardware addresses tell ${whom} apart: ${macs.join(", ")}.`);
  switch (identity) {
    case "none":
      return undefined;
    case "own":
      return { reason: "Unique", message: `Its UUID ${uuid} is its own.` };
    case "shared":
      return { reason: "UuidShared", message: `Another machine shows the UUID ${uuid} too.${by("them")}` };
    case "vendor":
      return { reason: "UuidOfVendor", message: `Its UUID ${uuid} is one that vendors ship by the thousand.${by("it")}` };
  }
}

/** By which key the machine is known that waited in maintenance mode. */
export function pinnedWords(
  fact: Pick<MachineFact, "spki" | "uuid" | "vouchedAt"> | undefined,
  isInMaintenance = false,
): Words<ReasonOf<"MaintenanceIdentityPinned">> {
  if (fact?.spki === undefined && isInMaintenance)
    return { reason: "NotPinnedYet", message: "Its key is written down when it is about to be configured." };
  if (fact?.spki === undefined) return { reason: "NotSeenInMaintenance", message: "The machine was not seen in maintenance mode." };
  if (fact.vouchedAt !== undefined) return { reason: "AcceptedByPerson", message: `Machine key ${fact.spki} accepted by a person.` };
  return {
    reason: "TrustedOnFirstUse",
    message: `Machine key ${fact.spki}${fact.uuid === "" ? "" : ` of machine ${fact.uuid}`} trusted on first use, not verified. Compare it with the machine's console.`,
  };
}
