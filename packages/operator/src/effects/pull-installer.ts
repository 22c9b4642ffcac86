import type { CallOptions, TalosErrorCode } from "@talos-operator/talos/client";
import { onMachine } from "../planning/step-of.ts";
import { intentOn, machineFact } from "../record/facts.ts";
import { noteNotSent } from "./attempt.ts";
import { rememberedAs } from "./define.ts";
import { notQuarantined, runsAnotherImage, runsVersion } from "./demand-talos.ts";
import type { AnotherBuild } from "./demand-talos.ts";
import { sameMachine } from "./demand-machine.ts";
import { beginStream, dialForStream } from "./send-stream.ts";
import { defineSend, toMachine } from "./send-to-machine.ts";

/** The build is the one that is to be installed from it. */
interface PullInstaller extends Omit<AnotherBuild, "ifBootId"> {
  readonly image: string;
}

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Brings an installer image into the store of a machine. Changes nothing that runs, and may be repeated. */
    PullInstaller: PullInstaller;
  }
}

/** A registry that is slow is waited for so long. */
const PULL_MS = 10 * 60_000;

const refusals: readonly TalosErrorCode[] = ["NOT_FOUND", "INVALID_ARGUMENT", "PERMISSION_DENIED", "NODE_FAILED", "UNIMPLEMENTED"];
const retry = { word: "PullInstaller", refusals, pauseMs: { answered: 30_000, refused: 30_000, unknown: 10_000 } } as const;

/** Pulls an installer through the machine's own mirrors, beside the passes. */
export const pullInstaller = defineSend("PullInstaller", {
  inventory: "T10",
  ...toMachine,
  disrupts: "nothing",
  goesTogether: true,
  retry,
  dial: dialForStream("PullInstaller"),
  checks: { sameMachine, runsVersion, runsAnotherImage },
  record: {
    idle: (facts, { machine }) => intentOn(facts, machine) === undefined,
    uuid: (facts, { machine, ifUuid }) => machineFact(facts, machine)?.uuid === ifUuid,
    notQuarantined,
  },
  doing: "Pulling installer image",
  send(connected, options) {
    const { client, action, effects } = connected;
    const pull = async (stream: CallOptions, began: () => void) => {
      // Up to Talos 1.12 nothing is heard before the image is there, and that may take longer than a pass waits.
      began();
      for await (const progress of client.imagePull({ reference: action.image, store: "system" }, stream)) {
        if (progress.kind !== "done") continue;
        effects.tellStep(action.machine, "InstallerPulled", `Pulled ${action.image} to ${action.machine}.`);
        return { detail: "", pulled: { asked: action.image, stored: progress.name } };
      }
      return { detail: "" };
    };
    return beginStream("PullInstaller", connected, options, PULL_MS, pull, { pulled: { asked: action.image, stored: "" } });
  },
  ended(ending, { action: { machine, image }, effects }) {
    if (ending.kind === "not-sent") noteNotSent(rememberedAs({ retry }, machine), ending, effects);
    if (ending.kind === "refused")
      effects.session.noteSent(`PullInstallerEnded/${machine}`, "refused", ending.words, { pulled: { asked: image, stored: "" } });
  },
  step: ({ machine, image }) => onMachine("upgrade", machine, (named) => `Pull ${image}: ${named}.`),
  afterwards: (seen, { machine, image }) => ({
    ...seen,
    sent: new Map([
      ...seen.sent,
      [`PullInstallerEnded/${machine}`, { at: seen.now, outcome: "answered", detail: "", pulled: { asked: image, stored: image } }],
    ]),
  }),
});
