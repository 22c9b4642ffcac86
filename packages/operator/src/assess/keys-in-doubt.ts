import { keepKeys } from "../gates/keep-keys.ts";
import type { Assessment, KeysState } from "../model/assessment.ts";

/** Whether the keys that machines of this cluster were configured with are there. */
export function keysState(assessed: Assessment): KeysState {
  if (keepKeys.decide(assessed)?.waiting?.reason === "SecretsLost") return "lost";
  const { record, bundle } = assessed.seen;
  return record.kind === "unknown" || bundle.kind === "unknown" ? "in-doubt" : "sound";
}

/** What is said of machines instead. */
export const UNTIL_KEYS_ARE_BACK =
  "Nothing is sent until the cluster's keys are back, and nothing is to be done to it. See the condition SecretsLost of the TalosControlPlane.";
