import { EffectError } from "../errors.ts";
import { ARRIVES_MS } from "../procedures/configure/config-intents.ts";
import { intentOn } from "../record/facts.ts";
import type { IntentKind } from "../model/record.ts";
import type { MachineName } from "../model/machine.ts";
import type { Sending } from "./define.ts";

/**
 * Fails where the call could arrive later than everybody counts on who finds its intent: a trial that began so late would still run when it is taken for
 * over. A pass may be that slow where the Kubernetes API is, or where other machines leave calls unanswered.
 *
 * The time that it is told is that until the call has arrived, or never does.
 * @throws EffectError `PRECONDITION_GONE`
 */
export const inTime =
  (what: IntentKind) =>
  ({ action: { machine }, effects }: Sending<{ readonly machine: MachineName }>, timeoutMs: number): void => {
    const intent = intentOn(effects.facts(), machine, what);
    if (intent !== undefined && effects.clock.now() + timeoutMs <= intent.at + ARRIVES_MS) return;
    throw new EffectError("PRECONDITION_GONE", "it took too long from the decision to the call; it is decided anew");
  };
