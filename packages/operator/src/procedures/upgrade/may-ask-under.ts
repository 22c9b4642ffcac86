import { mayAskAgain, rememberedAs } from "../../effects/define.ts";
import type { Retry } from "../../effects/define.ts";
import { sentUnder } from "../configure/config-probe.ts";
import type { Observed } from "../../model/observation.ts";
import type { IntentFact } from "../../model/record.ts";

/** The same as `mayAskAgain`, under an intent: what was answered under an earlier one has ended with it, and this one is not held up by its pause. */
export function mayAskUnder(seen: Observed, effect: { readonly retry: Retry }, intent: IntentFact): boolean {
  const last = seen.sent.get(rememberedAs(effect, intent.machine));
  const isOfEarlier = last?.outcome === "answered" && sentUnder(seen, effect.retry.word, intent) === undefined;
  return isOfEarlier || mayAskAgain(seen, effect, intent.machine);
}
