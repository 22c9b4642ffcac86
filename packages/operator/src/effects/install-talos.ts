import { onMachine } from "../planning/step-of.ts";
import { withFact } from "../planning/afterwards-machines.ts";
import { intentOn } from "../record/facts.ts";
import type { MachineRole } from "../model/machine.ts";
import { always, where } from "./define.ts";
import { notQuarantined, nothingInstalled, runsVersion, sameBoot } from "./demand-talos.ts";
import type { TalosStep } from "./demand-talos.ts";
import { sameMachine } from "./demand-machine.ts";
import { ownMember, quorumWithout } from "./demand-quorum.ts";
import { unpaused } from "./demand-unpaused.ts";
import { onUpgrade } from "./on-upgrade.ts";
import { beginStream, dialForStream } from "./send-stream.ts";
import { defineSend } from "./send-to-machine.ts";
import type { Connected } from "./send-to-machine.ts";

interface InstallTalos extends TalosStep {
  /** etcd must bear the loss of a control plane. */
  readonly role: MachineRole;
  readonly version: string;
  /** Name under which the installer is in the store of the machine. */
  readonly image: string;
}

declare module "../model/effect.ts" {
  interface EffectParameters {
    /** Writes another Talos into the boot slot that does not run; the next boot starts it. From Talos 1.13. */
    InstallTalos: InstallTalos;
  }
}

/** An installer writes a few hundred megabytes; slow disks take minutes. */
export const INSTALL_MS = 10 * 60_000;

/**
 * Installs another Talos beside the one that runs. The machine neither drains nor boots for it.
 *
 * An installer that has begun goes on whether anybody listens or not, and nobody else's begins meanwhile; when it has ended META names the slot before. So a
 * repetition under the same intent is refused while it runs, and is not asked once it is over.
 */
export const installTalos = defineSend("InstallTalos", {
  inventory: "T10",
  machine: ({ machine }) => machine,
  whom: ({ machine }) => machine,
  address: ({ address }) => address,
  disrupts: "machine",
  goesTogether: true,
  intent: "InstallTalos",
  ...onUpgrade("InstallTalos", always(INSTALL_MS)),
  before: { unpaused },
  dial: dialForStream("InstallTalos"),
  checks: {
    sameMachine,
    sameBoot,
    runsVersion,
    nothingInstalled,
    ...where(({ action }: Connected<InstallTalos>) => action.role === "controlplane", { ownMember, ...quorumWithout("is-down") }),
  },
  record: {
    boot: (facts, { machine, ifBootId }) => intentOn(facts, machine, "InstallTalos")?.bootIdBefore === ifBootId,
    version: (facts, { machine, version }) => intentOn(facts, machine, "InstallTalos")?.talosVersion === version,
    uuid: (facts, { machine, ifUuid }) => intentOn(facts, machine, "InstallTalos")?.uuid === ifUuid,
    notQuarantined,
  },
  doing: "Installing Talos",
  send(connected, options) {
    connected.effects.session.forgetSent(`InstallTalosEnded/${connected.action.machine}`);
    return beginStream("InstallTalos", connected, options, INSTALL_MS, async (stream, began) => {
      let last = "";
      for await (const words of connected.client.lifecycleUpgrade({ image: connected.action.image }, stream)) {
        began();
        last = words;
      }
      return { detail: last };
    });
  },
  step: ({ machine, version }) => onMachine("upgrade", machine, (named) => `Install Talos ${version}: ${named}.`),
  afterwards: (seen, { machine, version, ifVersion, ifBootId }) =>
    withFact(seen, machine, (fact) => ({ ...fact, installed: { version, before: ifVersion, bootId: ifBootId } })),
});
