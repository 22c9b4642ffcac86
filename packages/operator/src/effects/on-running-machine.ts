import type { TalosErrorCode } from "@talos-operator/talos/client";
import { isEffectError } from "../errors.ts";
import { howBefore } from "../procedures/configure/config-probe.ts";
import type { MachineName } from "../model/machine.ts";
import type { KnownAtSend } from "../model/observation.ts";
import type { Ending } from "./attempt.ts";
import { always } from "./define.ts";
import type { Retry, Sending } from "./define.ts";

/** `FAILED_PRECONDITION`: it is not in a state to take anything now, and is asked again. */
const REFUSALS: readonly TalosErrorCode[] = [
  "INVALID_ARGUMENT",
  "NODE_FAILED",
  "UNIMPLEMENTED",
  "PERMISSION_DENIED",
  "FAILED_PRECONDITION",
];

/**
 * After an effect against drift the machine is left in peace for a while, twice as long after each further one of the last day: what changes it again and
 * again is another tool, and a machine that boots for that every ten minutes is worse than one that differs.
 */
export const REVERT_AGAIN_MS = 600_000;

/** After settings that were sent and did not come into force, without a sign why: longer each time, an hour at most. */
export function triedPause(tries: number): Retry["pauseMs"] {
  return always(Math.min(tries * 300_000, 3_600_000));
}

type Asked = Sending<{ readonly machine: MachineName }>;

/**
 * What all effects on a running machine's configuration share: its words, and what is remembered of a failure.
 *
 * @param pauseMs before it is repeated under an intent that allows that
 */
export function onRunningMachine<W extends string>(word: W, pauseMs: Retry["pauseMs"]) {
  return {
    retry: { word, refusals: REFUSALS, pauseMs },
    ended(ending: Ending, { action: { machine }, effects }: Asked): void {
      const { session } = effects;
      // The intent may be closed without waiting for an end that never comes.
      const holdBack = (why: string): void => session.noteHeldBack(machine, why);
      if (ending.kind === "not-sent") holdBack(isEffectError(ending.error) ? ending.error.detail : "it does not answer");
      if (ending.kind !== "refused") return;
      if (ending.code === "FAILED_PRECONDITION") {
        session.forgetSent(`${word}/${machine}`);
        holdBack(`it takes nothing now (${ending.words})`);
        // What else is refused the record tells; a boot is asked for again until its deadline.
      } else if (word === "Reboot") effects.event("ConfigApplyFailed", word, `${machine} refused: ${ending.words}`);
    },
    lastly({ action: { machine }, effects: { session } }: Asked): void {
      session.configs.forget(machine);
      if (word !== "KeepConfig") session.soaks.begin(machine);
      session.machines.nudge(machine);
    },
  } as const;
}

/** How the machine is before something is sent to it: kept with the note of that. */
export function howNow({ action: { machine }, effects: { seen } }: Asked): KnownAtSend {
  return { before: howBefore(seen.machines.find((one) => one.declared.name === machine)) };
}
