import type { SimulatedMachine } from "@talos-operator/simulator";
import { chooseScenario } from "../scenario.ts";
import { confirmMachine } from "../troubles/people.ts";
import type { EditableWorld, Workload } from "../workload.ts";
import { effectsOnMachines, isSettled, wantedMachines } from "./machines.ts";

const MINUTE = 60_000;

/** A person pauses the cluster, machines reboot meanwhile, and it goes on. */
export const pause: Workload = {
  name: "pause",
  about: "a cluster is paused, a machine reboots meanwhile, and the pause ends",
  choose: (random) => chooseScenario(random, { workers: [1, 2] }),
  steps: (_scenario, random) => {
    const minutes = 1 + Math.floor(random.fraction() * 5);
    let until = 0;
    let lost: SimulatedMachine | undefined;
    return [
      {
        what: `pause for ${minutes} minutes`,
        async make(world) {
          await world.edit({ mode: "disable" });
          world.stage.pausedSince = world.now();
          until = world.now() + minutes * MINUTE;
          world.timers.schedule(minutes * MINUTE, () => undefined);
          const machine = wantedMachines(world).at(-1);
          // What is not on its disk yet it loses: it comes back with another key, and the operator asks a person.
          if (machine?.state.isInstalled === false) lost = machine;
          machine?.powerCycle();
        },
        isReached: (world) => world.now() >= until,
      },
      {
        what: "end the pause",
        async make(world) {
          world.stage.pausedSince = undefined;
          await world.edit({ mode: undefined });
          if (lost !== undefined) void confirmMachine(world, lost);
        },
        isReached: isSettled,
      },
    ];
  },
  mayInterrupt: true,
  endsReady: true,
};

/** All machines lose their power at once. */
export const powerCycle: Workload = {
  name: "power-cycle",
  about: "every machine of a cluster loses its power, minutes later all of it is back: nobody sends a machine anything",
  choose: (random) => chooseScenario(random),
  steps: (_scenario, random) => {
    const minutes = Math.floor(random.fraction() * 10);
    let before = 0;
    let backAt = 0;
    return [
      {
        what: `no power for ${minutes} minutes`,
        async make(world) {
          before = effectsOnMachines(world);
          backAt = world.now() + minutes * MINUTE + 20_000;
          for (const machine of wantedMachines(world)) {
            machine.powerOff();
            // Not all at the same moment: the first ones back are alone for a while.
            world.timers.schedule(minutes * MINUTE + Math.floor(random.fraction() * 20_000), () => machine.powerOn());
          }
        },
        isReached: (world) => world.now() >= backAt && isSettled(world) && effectsOnMachines(world) === before,
      },
    ];
  },
  mayInterrupt: false,
  endsReady: true,
};

/** Another release of the operator takes over. */
export const operatorUpgrade: Workload = {
  name: "operator-upgrade",
  about: "the operator is replaced by a newer one: no machine is sent anything",
  choose: (random) => chooseScenario(random),
  steps: () => {
    let before = 0;
    let until = 0;
    return [
      {
        what: "replace the operator",
        async make(world) {
          before = effectsOnMachines(world);
          until = world.now() + 5 * MINUTE;
          world.timers.schedule(5 * MINUTE, () => undefined);
          world.replaceOperator();
        },
        isReached: (world) => world.now() >= until && isSettled(world) && effectsOnMachines(world) === before,
      },
    ];
  },
  mayInterrupt: false,
  endsReady: true,
};

/** The mode of a cluster changes while an edit is being carried out. */
export const modes: Workload = {
  name: "modes",
  about: "in the middle of a change that boots every machine the cluster is paused, then tried only, then goes on",
  choose: (random) => chooseScenario(random, { controlPlanes: [3], workers: [1, 2] }),
  steps: (_scenario, random) => {
    let until = 0;
    let boots: readonly string[] = [];
    const passes = (world: EditableWorld): boolean => world.now() >= until;
    const lasts = (world: EditableWorld, ms: number): void => {
      until = world.now() + ms;
      world.timers.schedule(ms, () => undefined);
    };
    const goesOnMs = Math.floor(random.fraction() * 3 * MINUTE);
    return [
      {
        what: "change the environment of services",
        async make(world) {
          boots = wantedMachines(world).map(({ state }) => state.bootId);
          await world.edit({ machineSpec: { configPatches: [{ machine: { env: { PROOF_OF_BOOT: "1" } } }] } });
          lasts(world, goesOnMs);
        },
        isReached: passes,
      },
      {
        what: "pause",
        async make(world) {
          await world.edit({ mode: "disable" });
          world.stage.pausedSince = world.now();
          lasts(world, 2 * MINUTE);
        },
        isReached: passes,
      },
      {
        what: "only try",
        async make(world) {
          await world.edit({ mode: "dryrun" });
          lasts(world, 2 * MINUTE);
        },
        isReached: passes,
      },
      {
        what: "go on",
        async make(world) {
          world.stage.pausedSince = undefined;
          await world.edit({ mode: undefined });
        },
        isReached: (world) => isSettled(world) && wantedMachines(world).every(({ state }) => !boots.includes(state.bootId)),
      },
    ];
  },
  mayInterrupt: false,
  endsReady: true,
};
