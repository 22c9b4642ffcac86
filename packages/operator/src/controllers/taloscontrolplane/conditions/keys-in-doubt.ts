import { keepKeys } from "../rules/keep-keys.ts";
import type { Observed } from "../../../model/observation.ts";

/**
 * True while nobody can say whether the keys that machines of this cluster were configured with are there: lost, others than those that the record names, or not
 * readable just now. What a machine shows proves nothing then, and no advice is given that could destroy it.
 */
export function areKeysInDoubt(seen: Observed): boolean {
  return seen.record.kind === "unknown" || seen.bundle.kind === "unknown" || areKeysLost(seen);
}

/** The keys are away, or others than those that the record names: the condition SecretsLost says what is the matter. */
export function areKeysLost(seen: Observed): boolean {
  return keepKeys.decide(seen)?.waiting?.reason === "SecretsLost";
}

/** What is said of machines instead. */
export const UNTIL_KEYS_ARE_BACK =
  "Nothing is sent, and nothing is to be done to it, until the cluster's keys are back: see the condition SecretsLost of the TalosControlPlane.";
