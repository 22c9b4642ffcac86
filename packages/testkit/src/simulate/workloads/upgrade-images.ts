import { isSameSchematic, noSchematic } from "@talos-operator/talos";
import { pick } from "../fault.ts";
import type { Conditioned } from "../object-view.ts";
import { chooseScenario } from "../scenario.ts";
import type { Scenario, ScenarioVersions } from "../scenario.ts";
import type { EditableWorld, Step, Workload } from "../workload.ts";
import { hasEnded, wantedMachines } from "./machines.ts";

/** What runs: a Talos that is upgraded in steps, one in one call, and one whose default image is of a factory, too. */
const versions: readonly ScenarioVersions[] = [
  { talosVersion: "v1.13.8", kubeVersion: "v1.36.3" },
  { talosVersion: "v1.12.10", kubeVersion: "v1.35.4" },
  { talosVersion: "v1.14.0", kubeVersion: "v1.36.3" },
];

/** To which the same image may be asked for at once. */
const newer: Readonly<Record<string, string>> = { "v1.13.8": "v1.13.9", "v1.12.10": "v1.12.11" };

const [first, second] = ["1".repeat(64), "2".repeat(64)];

function imageOf(schematic: string): Readonly<Record<string, unknown>> {
  return { image: `factory.talos.dev/metal-installer/${schematic}` };
}

function allRun(world: EditableWorld, version: string, schematic: string): boolean {
  return wantedMachines(world).every(
    ({ state }) => state.hardware.talosVersion === version && isSameSchematic(state.schematic ?? noSchematic, schematic),
  );
}

/** Another image is asked for. */
function ask(schematic: string, { talosVersion }: Scenario, version = talosVersion): Step {
  return {
    what: `ask for Talos ${version} of the schematic ${schematic.slice(0, 12)}`,
    make: (world) => world.edit({ talosVersion: version, machineSpec: imageOf(schematic) }),
    isReached: (world) => hasEnded(world) && allRun(world, version, schematic),
  };
}

/** Another image is asked for, and a while later something else. */
function askMeanwhile(schematic: string, then: string, { talosVersion }: Scenario, pauseMs: number): Step {
  let isAsked = false;
  return {
    what: `ask for the schematic ${schematic.slice(0, 12)}, and ${pauseMs} ms later for ${then.slice(0, 12)}`,
    async make(world) {
      await world.edit({ machineSpec: imageOf(schematic) });
      world.timers.schedule(pauseMs, () => {
        world.trace(`the schematic ${then.slice(0, 12)} is asked for meanwhile`);
        void world.edit({ machineSpec: imageOf(then) }).then(() => (isAsked = true));
      });
    },
    isReached: (world) => isAsked && hasEnded(world) && allRun(world, talosVersion, then),
  };
}

/** Machines that have the schematic in one of their slots. */
function touched(world: EditableWorld, schematic: string): number {
  return wantedMachines(world).filter(({ state: { system, schematic: runs } }) =>
    [system?.schematics?.next, system?.schematics?.other, runs].includes(schematic),
  ).length;
}

function isQuarantined(world: EditableWorld, version: string, schematic: string): boolean {
  const [record] = world.objects.all("clusterrecords") as readonly (Conditioned & {
    readonly spec?: { readonly quarantine?: readonly { readonly version: string; readonly schematic?: string }[] };
  })[];
  return record?.spec?.quarantine?.some((row) => row.version === version && row.schematic === schematic) === true;
}

/** The image does not work, and another one of the same version does. */
function askForBroken(fault: object, scenario: Scenario): readonly Step[] {
  const { talosVersion } = scenario;
  let most = 0;
  return [
    {
      what: `ask for the schematic ${first.slice(0, 12)}, which ${JSON.stringify(fault)}`,
      async make(world) {
        world.datacenter.setReleaseFault(talosVersion, { ...fault, schematic: first });
        await world.edit({ machineSpec: imageOf(first) });
      },
      isReached(world) {
        most = Math.max(most, touched(world, first));
        return most <= 1 && isQuarantined(world, talosVersion, first) && hasEnded(world) && allRun(world, talosVersion, noSchematic);
      },
    },
    ask(second, scenario),
  ];
}

/** Every machine of a cluster gets another image of the Talos that it runs. */
export const upgradeImage: Workload = {
  name: "upgrade-image",
  about:
    "every machine is brought another image: of the version that runs, with the next one, changed or taken back meanwhile, or one that does not work",
  choose: (random) => chooseScenario(random, { controlPlanes: [1, 3, 3], workers: [0, 1, 2], versions }),
  steps(scenario, random) {
    const working = ["one after the other", "with a version", "changed", "taken back"] as const;
    // The only worker of its pool waits where its disk is replaced while the image is in quarantine: nobody tells what its pool runs.
    const course = pick(scenario.workers === 1 ? working : ([...working, "broken"] as const), random);
    const pauseMs = 2_000 + Math.floor(random.fraction() * 90_000);
    const fault = pick([{ boot: "never-healthy" }, { boot: "fails" }, { installerExitCode: 3 }], random);
    switch (course) {
      case "one after the other":
        return [ask(first, scenario), ask(second, scenario)];
      case "with a version":
        return [ask(first, scenario), ask(second, scenario, newer[scenario.talosVersion])];
      case "changed":
        return [askMeanwhile(first, second, scenario, pauseMs)];
      case "taken back":
        return [ask(first, scenario), askMeanwhile(second, first, scenario, pauseMs)];
      case "broken":
        return askForBroken(fault, scenario);
      default:
        return course satisfies never;
    }
  },
  effects: ["T10", "T11"],
};
