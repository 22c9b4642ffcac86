import type { TalosErrorCode } from "@talos-operator/talos/client";
import { isEffectError } from "../errors.ts";
import type { MachineName, MachineRole } from "../model/machine.ts";
import type { ClusterFacts } from "../model/record.ts";
import { intentOn } from "../record/facts.ts";
import type { Ending } from "./attempt.ts";
import { where } from "./define.ts";
import type { Retry, Sending } from "./define.ts";
import { sameMachine } from "./demand-machine.ts";
import { ownMember, quorumWithout } from "./demand-quorum.ts";
import { notQuarantined, nothingInstalled, runsAnotherImage, runsVersion, sameBoot } from "./demand-talos.ts";
import type { AnotherBuild } from "./demand-talos.ts";
import type { Connected } from "./send-to-machine.ts";

const refusals: readonly TalosErrorCode[] = [
  "INSTALL_FAILED",
  "FAILED_PRECONDITION",
  "INVALID_ARGUMENT",
  "PERMISSION_DENIED",
  "NODE_FAILED",
  "UNIMPLEMENTED",
];

/** Another Talos for one machine. */
export interface AnotherTalos extends AnotherBuild {
  /** etcd must bear the loss of a control plane. */
  readonly role: MachineRole;
}

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
      session.machines.nudge(machine);
    },
  } as const;
}

/** What is asked of a machine right before another Talos goes to it, in one call or in steps. */
export const beforeAnotherTalos = {
  sameMachine,
  sameBoot,
  runsVersion,
  runsAnotherImage,
  nothingInstalled,
  ...where(({ action }: Connected<AnotherTalos>) => action.role === "controlplane", { ownMember, ...quorumWithout("is-down") }),
} as const;

/** What the record has to hold of it. */
export function recordedUpgrade(what: "InstallTalos" | "UpgradeTalos") {
  return {
    boot: (facts: ClusterFacts, { machine, ifBootId }: AnotherTalos) => intentOn(facts, machine, what)?.bootIdBefore === ifBootId,
    version: (facts: ClusterFacts, { machine, version }: AnotherTalos) => intentOn(facts, machine, what)?.talosVersion === version,
    schematic: (facts: ClusterFacts, { machine, schematic }: AnotherTalos) => intentOn(facts, machine, what)?.talosSchematic === schematic,
    uuid: (facts: ClusterFacts, { machine, ifUuid }: AnotherTalos) => intentOn(facts, machine, what)?.uuid === ifUuid,
    notQuarantined,
  } as const;
}
