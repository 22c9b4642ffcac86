import type { SimulatedMachine } from "@talos-operator/simulator";
import { chooseScenario } from "../scenario.ts";
import { confirmMachine } from "../troubles/people.ts";
import type { Workload } from "../workload.ts";
import {
  allBooted,
  bootsOf,
  changeEnvironment,
  comparing,
  createPeriod,
  effectsOnMachines,
  isSettled,
  wantedMachines,
} from "./machines.ts";
import type { Boots } from "./machines.ts";

const MINUTE = 60_000;

/** A person pauses the cluster, machines reboot meanwhile, and it goes on. */
export const pause: Workload = {
  name: "pause",
  about: "a cluster is paused, a machine reboots meanwhile, and the pause ends",
  choose: (random) => chooseScenario(random, { workers: [1, 2] }),
  steps: (_scenario, random) => {
    const minutes = 1 + Math.floor(random.fraction() * 5);
    const paused = createPeriod();
    let lost: SimulatedMachine | undefined;
    return [
      {
        what: `pause for ${minutes} minutes`,
        async make(world) {
          await world.edit({ mode: "disable" });
          world.stage.pausedSince = world.now();
          paused.begin(world, minutes * MINUTE);
          const machine = wantedMachines(world).at(-1);
          // What is not on its disk yet it loses: it comes back with another key, and the operator asks a person.
          if (machine?.state.isInstalled === false) lost = machine;
          machine?.powerCycle();
        },
        isReached: paused.isOver,
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
};

/** All machines lose their power at once. */
export const powerCycle: Workload = {
  name: "power-cycle",
  about: "every machine of a cluster loses its power, minutes later all of it is back: nobody sends a machine anything",
  choose: (random) => chooseScenario(random),
  steps: (_scenario, random) => {
    const minutes = Math.floor(random.fraction() * 10);
    let backAt = 0;
    return [
      comparing(effectsOnMachines, {
        what: `no power for ${minutes} minutes`,
        async make(world) {
          backAt = world.now() + minutes * MINUTE + 20_000;
          for (const machine of wantedMachines(world)) {
            machine.powerOff();
            // Not all at the same moment: the first ones back are alone for a while.
            world.timers.schedule(minutes * MINUTE + Math.floor(random.fraction() * 20_000), () => machine.powerOn());
          }
        },
        isReached: (world, before) => world.now() >= backAt && isSettled(world) && effectsOnMachines(world) === before,
      }),
    ];
  },
};

/** Another release of the operator takes over. */
export const operatorUpgrade: Workload = {
  name: "operator-upgrade",
  about: "the operator is replaced by a newer one: no machine is sent anything",
  choose: (random) => chooseScenario(random),
  steps: () => {
    const period = createPeriod();
    return [
      comparing(effectsOnMachines, {
        what: "replace the operator",
        async make(world) {
          period.begin(world, 5 * MINUTE);
          world.replaceOperator();
        },
        isReached: (world, before) => period.isOver(world) && isSettled(world) && effectsOnMachines(world) === before,
      }),
    ];
  },
};

/** The mode of a cluster changes while an edit is being carried out. */
export const modes: Workload = {
  name: "modes",
  about: "in the middle of a change that boots every machine the cluster is paused, then tried only, then goes on",
  choose: (random) => chooseScenario(random, { controlPlanes: [3], workers: [1, 2] }),
  steps: (_scenario, random) => {
    let boots: Boots = [];
    const period = createPeriod();
    const goesOnMs = Math.floor(random.fraction() * 3 * MINUTE);
    return [
      {
        what: "change the environment of services",
        async make(world) {
          boots = bootsOf(world);
          await changeEnvironment(world);
          period.begin(world, goesOnMs);
        },
        isReached: period.isOver,
      },
      {
        what: "pause",
        async make(world) {
          await world.edit({ mode: "disable" });
          world.stage.pausedSince = world.now();
          period.begin(world, 2 * MINUTE);
        },
        isReached: period.isOver,
      },
      {
        what: "only try",
        async make(world) {
          await world.edit({ mode: "dryrun" });
          period.begin(world, 2 * MINUTE);
        },
        isReached: period.isOver,
      },
      {
        what: "go on",
        async make(world) {
          world.stage.pausedSince = undefined;
          await world.edit({ mode: undefined });
        },
        isReached: (world) => isSettled(world) && allBooted(boots),
      },
    ];
  },
};
