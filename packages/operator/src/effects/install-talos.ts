import { onMachine } from "../planning/step-of.ts";
import { withFact } from "../planning/afterwards-machines.ts";
import { always } from "./define.ts";
import { beforeAnotherTalos, onUpgrade, recordedUpgrade } from "./on-upgrade.ts";
import type { AnotherTalos } from "./on-upgrade.ts";
import { beginStream, dialForStream } from "./send-stream.ts";
import { defineSend, toMachine } from "./send-to-machine.ts";

interface InstallTalos extends AnotherTalos {
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
  ...toMachine,
  disrupts: "machine",
  goesTogether: true,
  intent: "InstallTalos",
  ...onUpgrade("InstallTalos", always(INSTALL_MS)),
  dial: dialForStream("InstallTalos"),
  checks: beforeAnotherTalos,
  record: recordedUpgrade("InstallTalos"),
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
  afterwards: (seen, { machine, version, schematic, ifVersion, ifBootId }) =>
    withFact(seen, machine, (fact) => ({
      ...fact,
      installed: { version, ...(schematic === undefined ? {} : { schematic }), before: ifVersion, bootId: ifBootId },
    })),
});
