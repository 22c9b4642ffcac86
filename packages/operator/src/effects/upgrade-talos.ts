import { machineApiFacts } from "@talos-operator/talos/client";
import { withTalos } from "../planning/afterwards-machines.ts";
import { onMachine } from "../planning/step-of.ts";
import { intentOn } from "../record/facts.ts";
import type { MachineRole } from "../model/machine.ts";
import { always, where } from "./define.ts";
import { notQuarantined, nothingInstalled, runsVersion, sameBoot } from "./demand-talos.ts";
import type { TalosStep } from "./demand-talos.ts";
import { sameMachine } from "./demand-machine.ts";
import { ownMember, quorumWithout } from "./demand-quorum.ts";
import { unpaused } from "./demand-unpaused.ts";
import { onUpgrade } from "./on-upgrade.ts";
import { defineSend } from "./send-to-machine.ts";
import type { Connected } from "./send-to-machine.ts";

interface UpgradeTalos extends TalosStep {
  /** etcd must bear the loss of a control plane. */
  readonly role: MachineRole;
  readonly version: string;
  readonly image: string;
}

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Installs another Talos and boots it, in one call, as up to Talos 1.12. */
    UpgradeTalos: UpgradeTalos;
  }
}

/**
 * The older upgrade: one call that stops services, installs and boots. Its machine was drained and leads etcd no more before it; what its installer refuses boots the Talos of
 * before. Data stay, and from Talos 1.8 the machine itself asks etcd's members once more.
 */
export const upgradeTalos = defineSend("UpgradeTalos", {
  inventory: "T10",
  machine: ({ machine }) => machine,
  whom: ({ machine }) => machine,
  address: ({ address }) => address,
  disrupts: "machine",
  goesTogether: true,
  intent: "UpgradeTalos",
  ...onUpgrade("UpgradeTalos", always(120_000)),
  before: { unpaused },
  checks: {
    sameMachine,
    sameBoot,
    runsVersion,
    nothingInstalled,
    ...where(({ action }: Connected<UpgradeTalos>) => action.role === "controlplane", { ownMember, ...quorumWithout("is-down") }),
  },
  record: {
    boot: (facts, { machine, ifBootId }) => intentOn(facts, machine, "UpgradeTalos")?.bootIdBefore === ifBootId,
    version: (facts, { machine, version }) => intentOn(facts, machine, "UpgradeTalos")?.talosVersion === version,
    uuid: (facts, { machine, ifUuid }) => intentOn(facts, machine, "UpgradeTalos")?.uuid === ifUuid,
    notQuarantined,
  },
  doing: "Upgrading Talos",
  send: ({ client, action }, options) =>
    client.upgrade({ image: action.image, preserve: machineApiFacts(action.ifVersion).isUpgradeWiping }, options),
  step: ({ machine, version }) => onMachine("upgrade", machine, (named) => `Upgrade to Talos ${version} and boot it: ${named}.`),
  afterwards: (seen, { machine, version }) => withTalos(seen, machine, version),
});
