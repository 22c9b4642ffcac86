import { findCondition } from "@talos-operator/api";
import type { Condition, FailureKind } from "@talos-operator/api";
import type { FailedConfigFact } from "../model/record.ts";

/**
 * What the release before wrote as sentences and this one writes as data: read here and nowhere else, and only where the data is not there. Each form is the
 * sentence of that release from its beginning, and to its end where no words of a machine follow: one that was edited tells nothing. A form goes when no release writes it that may be replaced by the one at hand.
 */
const SENTENCES = {
  unique: /^Its UUID (\S+) is its own\.$/,
  shared: /^Another machine shows the UUID (\S+) too\.(?: Hardware addresses tell them apart: (\S+(?:, \S+)*)\.)?$/,
  vendor: /^Its UUID (\S+) is one that vendors ship by the thousand\.(?: Hardware addresses tell it apart: (\S+(?:, \S+)*)\.)?$/,
  accepted: /^Machine key (\S+) accepted by a person\.$/,
  trusted: /^Machine key (\S+)(?: of machine \S+)? trusted on first use, not verified\. Compare it with the machine's console\.$/,
  refused: /^it refused them: /,
  reverted:
    /^(?:it runs the tried configuration and does not end the trial, and |it was booted during the trial, which ended it(?:, \d+ times)?$|while it tried them, |it took them back before it was told to keep them(?:, \d+ times)?$|after its reboot |its META may hold the new static network settings, and )/,
} as const;

/** Who a machine is, as a TalosMachine of the release before told it in its conditions. */
export interface IdentityBefore {
  readonly uuid: string;
  readonly macs: readonly string[];
  readonly maintenanceKey: string | undefined;
}

/** Reads `IdentityUnique` and `MaintenanceIdentityPinned`; what neither says is empty. */
export function identityBefore(conditions: readonly Condition[] | undefined): IdentityBefore {
  const { reason: kind, message: words = "" } = findCondition(conditions, "IdentityUnique") ?? {};
  const form = { Unique: SENTENCES.unique, UuidShared: SENTENCES.shared, UuidOfVendor: SENTENCES.vendor }[kind ?? ""];
  const [, uuid = "", macs] = form?.exec(words) ?? [];
  const { reason: how, message: said = "" } = findCondition(conditions, "MaintenanceIdentityPinned") ?? {};
  const pinned = { AcceptedByPerson: SENTENCES.accepted, TrustedOnFirstUse: SENTENCES.trusted }[how ?? ""];
  return { uuid, macs: macs?.split(", ") ?? [], maintenanceKey: pinned?.exec(said)?.[1] };
}

/** How settings failed; a record of the release before has words alone. */
export function failureKind({ kind, why }: FailedConfigFact): FailureKind {
  if (kind !== undefined) return kind;
  if (SENTENCES.refused.test(why)) return "refused";
  return SENTENCES.reverted.test(why) ? "reverted" : "unknown";
}
