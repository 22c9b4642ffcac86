import { chooseScenario } from "../scenario.ts";
import type { EffectId } from "../effects.ts";
import type { EditableWorld, Workload } from "../workload.ts";
import { isSettled, wantedMachines } from "./machines.ts";

const ON_MACHINES: readonly EffectId[] = ["T2", "T3", "T4", "T6", "T7", "T8", "T9", "T10", "T11"];

function effectsOnMachines(world: EditableWorld): number {
  return ON_MACHINES.reduce((sum, effect) => sum + world.took(effect), 0);
}

const MINUTE = 60_000;

/** A person pauses the cluster, machines reboot meanwhile, and it goes on. */
export const pause: Workload = {
  name: "pause",
  about: "a cluster is paused, a machine reboots meanwhile, and the pause ends",
  choose: (random) => chooseScenario(random, { workers: [1, 2] }),
  steps: (_scenario, random) => {
    const minutes = 1 + Math.floor(random.fraction() * 5);
    let until = 0;
    return [
      {
        what: `pause for ${minutes} minutes`,
        async make(world) {
          await world.edit({ mode: "disable" });
          world.stage.pausedSince = world.now();
          until = world.now() + minutes * MINUTE;
          world.timers.schedule(minutes * MINUTE, () => undefined);
          wantedMachines(world).at(-1)?.powerCycle();
        },
        isReached: (world) => world.now() >= until,
      },
      {
        what: "end the pause",
        async make(world) {
          world.stage.pausedSince = undefined;
          await world.edit({ mode: undefined });
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
