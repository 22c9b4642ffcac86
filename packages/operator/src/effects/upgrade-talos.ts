import { machineApiFacts } from "@talos-operator/talos/client";
import { withTalos } from "../planning/afterwards-machines.ts";
import { onMachine } from "../planning/step-of.ts";
import { always } from "./define.ts";
import { beforeAnotherTalos, onUpgrade, recordedUpgrade } from "./on-upgrade.ts";
import type { AnotherTalos } from "./on-upgrade.ts";
import { defineSend, toMachine } from "./send-to-machine.ts";

interface UpgradeTalos extends AnotherTalos {
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
  ...toMachine,
  disrupts: "machine",
  goesTogether: true,
  intent: "UpgradeTalos",
  ...onUpgrade("UpgradeTalos", always(120_000)),
  checks: beforeAnotherTalos,
  record: recordedUpgrade("UpgradeTalos"),
  doing: "Upgrading Talos",
  send: ({ client, action }, options) =>
    client.upgrade({ image: action.image, preserve: machineApiFacts(action.ifVersion).isUpgradeWiping }, options),
  step: ({ machine, version }) => onMachine("upgrade", machine, (named) => `Upgrade to Talos ${version} and boot it: ${named}.`),
  afterwards: (seen, { machine, version, schematic }) => withTalos(seen, machine, { version, schematic }),
});
