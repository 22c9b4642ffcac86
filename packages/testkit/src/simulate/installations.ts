import { namesOfImage } from "@talos-operator/simulator";
import type { Datacenter, SimulatedMachine } from "@talos-operator/simulator";
import type { Report } from "./violation.ts";
import type { Stage } from "./stage.ts";

/** What the operator may have read just before the machine changed. */
const READ_JUST_BEFORE_MS = 5_000;

/** Watches which Talos the operator has machines install, and judges it by what is on their disks. */
export interface Installations {
  /** Before a machine is asked to install another Talos. */
  beforeSend(address: string, request: unknown): void;
  /** After any effect. */
  look(): void;
}

/** A version, and what it is built from where that is something. */
type Build = string;

/** What a machine was asked to install, and for which wish. */
interface Asked {
  readonly build: Build;
  readonly wish: string;
  readonly wipes: number;
  isDone: boolean;
}

/**
 * Once: no machine is asked to install what it runs, nothing is installed over what was not booted yet, and what was through once on a machine is not installed there
 * again as long as the same is asked for and the machine was not wiped.
 */
export function createInstallations(datacenter: Datacenter, stage: Stage, now: () => number, report: Report): Installations {
  const asked = new Map<string, Asked>();
  /** Since when a machine starts something else next than it runs. */
  const unbooted = new Map<string, number>();

  const machineAt = (address: string): SimulatedMachine => datacenter.machine(stage.routes.get(address) ?? address);
  const wish = (): string => JSON.stringify([stage.generation, stage.desired?.talosVersion, stage.desired?.machineSpec["image"]]);

  function look(): void {
    for (const machine of datacenter.machines()) {
      const { address } = machine;
      const [runs, next] = [runningOn(machine), nextOn(machine)];
      if (next === runs) unbooted.delete(address);
      else if (!unbooted.has(address)) unbooted.set(address, now());
      const one = asked.get(address);
      if (one !== undefined && [runs, next].includes(one.build)) one.isDone = true;
    }
  }

  return {
    look,
    beforeSend(address, request) {
      look();
      const machine = machineAt(address);
      const build = buildOf(machine, request);
      const { bootedAt, wipes } = machine.state;
      if (build === runningOn(machine) && now() - bootedAt > READ_JUST_BEFORE_MS)
        report("Once", `${address} is to install ${build}, which it runs`);
      if (now() - (unbooted.get(machine.address) ?? now()) > READ_JUST_BEFORE_MS)
        report("Once", `${address} is to install ${build} over ${nextOn(machine)}, which was not booted yet`);
      const before = asked.get(machine.address);
      if (before?.isDone === true && before.build === build && before.wish === wish() && before.wipes === wipes)
        report("Once", `${address} is to install ${build} once more`);
      // Whether it came about is seen on the machine: an installer goes on without its caller.
      asked.set(machine.address, { build, wish: wish(), wipes, isDone: false });
    },
  };
}

function named(version: string, schematic: string | undefined): Build {
  return schematic === undefined ? version : `${version} of ${schematic.slice(0, 12)}`;
}

function runningOn({ state: { hardware, schematic } }: SimulatedMachine): Build {
  return named(hardware.talosVersion, schematic);
}

function nextOn(machine: SimulatedMachine): Build {
  const { system, isInstalled } = machine.state;
  return system === undefined || !isInstalled ? runningOn(machine) : named(system.next, system.schematics?.next);
}

/** By the image: in steps it is named as the machine's store calls it. */
function buildOf({ state: { images = [] } }: SimulatedMachine, request: unknown): Build {
  const { image, source } = request as { readonly image?: string; readonly source?: { readonly imageName?: string } };
  const name = image ?? source?.imageName ?? "";
  const stored = images.find((one) => namesOfImage(one.name).includes(name));
  const [, schematic] = /\/([0-9a-f]{64})[:@]/.exec(name) ?? [];
  return named(stored?.talosVersion ?? /:([^:/@]+)/.exec(name)?.[1] ?? name, stored === undefined ? schematic : stored.schematic);
}
