import { EffectError } from "../errors.ts";
import { LOOK_TIMEOUT_MS } from "../looking/look-at.ts";
import { readSlots } from "../procedures/configure/read-config.ts";
import { mayRollBack } from "../procedures/upgrade/may-roll-back.ts";
import { onMachine } from "../planning/step-of.ts";
import { intentOn } from "../record/facts.ts";
import { isUpgrade } from "../record/upgrades.ts";
import type { MachineRole } from "../model/machine.ts";
import { always, where } from "./define.ts";
import type { Check } from "./define.ts";
import { runsVersion, sameBoot } from "./demand-talos.ts";
import type { TalosStep } from "./demand-talos.ts";
import { sameMachine } from "./demand-machine.ts";
import { membersNow, ownMember, quorumWithout, unlessIdle } from "./demand-quorum.ts";
import { onUpgrade } from "./on-upgrade.ts";
import { defineSend, toMachine } from "./send-to-machine.ts";
import type { Connected } from "./send-to-machine.ts";

interface RollBackTalos extends TalosStep {
  /** etcd must bear the boot of a control plane. */
  readonly role: MachineRole;
  /** Talos that the other slot holds. */
  readonly back: string;
}

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Boots the slot of before again, on a machine that never got well with another Talos. */
    RollBackTalos: RollBackTalos;
  }
}

/**
 * What META names is the slot of before, where it names a version at all: another boot loader counts its slots. Two images of one version are `Talos-v1.13.9.efi` and
 * `Talos-v1.13.9~1.efi`.
 *
 * @see siderolabs/talos v1.13.9 `internal/app/machined/pkg/runtime/v1alpha1/bootloader/sdboot/sdboot.go` generateNextUKIName
 */
const otherSlot: Check<Connected<RollBackTalos>> = async ({ action, client, effects: { signal } }) => {
  const { fallback, isStaged } = await readSlots(client, { timeoutMs: LOOK_TIMEOUT_MS, signal });
  const named = /v\d+\.\d+\.\d+(?:-[\w.]+)?(?=(?:~\d+)?(?:\.efi)?$)/.exec(fallback ?? "")?.[0];
  if (isStaged || (named !== undefined && named !== action.back))
    throw new EffectError("PRECONDITION_GONE", `its other slot holds ${named ?? "what is staged"}, and not ${action.back}`);
};

/** The etcd of before reads the data that the members tell now. */
const readsData: Check<Connected<RollBackTalos>> = async (sending) => {
  const { machine, role, ifVersion, back } = sending.action;
  const { seen } = await sending.ask(membersNow);
  const why = mayRollBack(seen.machines, { machine, role, talosVersion: ifVersion, talosBefore: back });
  if (why !== undefined) throw new EffectError("PRECONDITION_GONE", why);
};

/**
 * Goes back once: only while the machine runs the very boot under which the new Talos was given up. One that was installed and never booted is taken back the same
 * way: the machine boots what it runs.
 */
export const rollBackTalos = defineSend("RollBackTalos", {
  inventory: "T11",
  ...toMachine,
  disrupts: "machine",
  goesTogether: true,
  intent: "Reboot",
  ...onUpgrade("RollBackTalos", always(300_000)),
  checks: {
    sameMachine,
    sameBoot,
    runsVersion,
    otherSlot,
    // One whose etcd never started with the new Talos has nothing to lose, and no other way back.
    ...where(({ action }: Connected<RollBackTalos>) => action.role === "controlplane", {
      readsData,
      ...unlessIdle({ ownMember, ...quorumWithout("is-down") }),
    }),
  },
  record: {
    boot: (facts, { machine, ifBootId }) => intentOn(facts, machine)?.rollsBackFrom === ifBootId,
    slots: (facts, { machine, ifVersion, back }) => {
      const intent = intentOn(facts, machine);
      return isUpgrade(intent) && intent.talosBefore === back && (intent.talosVersion === ifVersion || back === ifVersion);
    },
    uuid: (facts, { machine, ifUuid }) => intentOn(facts, machine)?.uuid === ifUuid,
  },
  doing: "Rolling Talos back",
  send: ({ client }, options) => client.rollback(options),
  step: ({ machine, back }) => onMachine("reboot", machine, (named) => `Roll back to Talos ${back}: ${named}.`),
  afterwards: () => undefined,
});
