import type { TalosErrorCode } from "@talos-operator/talos/client";
import { isEffectError } from "../errors.ts";
import type { MachineName } from "../model/machine.ts";
import type { Ending } from "./attempt.ts";
import type { Retry, Sending } from "./define.ts";

const refusals: readonly TalosErrorCode[] = [
  "INSTALL_FAILED",
  "FAILED_PRECONDITION",
  "INVALID_ARGUMENT",
  "PERMISSION_DENIED",
  "NODE_FAILED",
  "UNIMPLEMENTED",
];

type Asked = Sending<{ readonly machine: MachineName }>;

/**
 * What the steps of an upgrade share: their words, and what is remembered of a failure.
 *
 * @param pauseMs before it is repeated under an intent that allows that
 */
export function onUpgrade<W extends string>(word: W, pauseMs: Retry["pauseMs"]) {
  return {
    retry: { word, refusals, pauseMs },
    ended(ending: Ending, { action: { machine }, effects: { session } }: Asked): void {
      // The intent may be closed without waiting for an end that never comes.
      if (ending.kind === "not-sent")
        session.noteHeldBack(machine, isEffectError(ending.error) ? ending.error.detail : "it does not answer");
      if (ending.kind !== "refused") return;
      if (ending.code === "FAILED_PRECONDITION") {
        session.forgetSent(`${word}/${machine}`);
        session.noteHeldBack(machine, `it takes nothing now (${ending.words})`);
      } else session.noteSent(`${word}Ended/${machine}`, "refused", ending.words);
    },
    lastly({ action: { machine }, effects: { session } }: Asked): void {
      session.configs.forget(machine);
      session.nudge(machine);
    },
  } as const;
}
