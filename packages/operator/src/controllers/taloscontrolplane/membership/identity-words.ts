import { findCondition } from "@talos-operator/api";
import type { ReasonOf, TalosMachine } from "@talos-operator/api";
import type { MachineFact } from "../../../model/record.ts";
import type { IdentityKind } from "../../../model/assessment.ts";

/** What tells one machine from all others, as far as it is known. */
export type ToldHardware = Pick<MachineFact, "uuid" | "macs">;

/** Of a machine that nobody tells who it is. */
export const NOTHING_TOLD: ToldHardware = { uuid: "", macs: [] };
const APART = "Hardware addresses tell";

/**
 * What a TalosMachine says of who its machine is: for people, and read again by {@link toldHardware} when the record that knew it is lost.
 *
 * @returns nothing for a machine without a UUID
 */
export function identityWords(
  identity: IdentityKind,
  { uuid, macs }: ToldHardware,
): { readonly reason: ReasonOf<"IdentityUnique">; readonly message: string } | undefined {
  // A machine need not tell its hardware addresses, and nothing is read where none stand.
  const by = (whom: string): string => (macs.length === 0 ? "" : ` ${APART} ${whom} apart: ${macs.join(", ")}.`);
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

/** The hardware that a TalosMachine names; nothing where it names none. */
export function toldHardware({ status }: TalosMachine): ToldHardware {
  const message = findCondition(status?.conditions, "IdentityUnique")?.message;
  if (message === undefined) return NOTHING_TOLD;
  const uuid = / UUID (\S+) /.exec(message)?.[1] ?? "";
  const cards = / (?:them|it) apart: (.+)\.$/.exec(message)?.[1];
  return { uuid, macs: cards?.split(", ") ?? [] };
}
