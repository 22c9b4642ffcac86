import { chooseScenario } from "../scenario.ts";
import type { EditableWorld, Workload } from "../workload.ts";
import { bootsOf, isSettled, nobodyBooted, wantedMachines, type Boots } from "./machines.ts";

function allHave(world: EditableWorld, word: RegExp): boolean {
  return wantedMachines(world).every(({ state }) => word.test(state.config.active ?? "") && word.test(state.config.persisted ?? ""));
}

/** A setting that takes effect without a restart. */
export const configLive: Workload = {
  name: "config-live",
  about: "a setting that takes effect at once is changed on every machine, and nobody reboots",
  choose: (random) => chooseScenario(random),
  steps: () => {
    let boots: Boots = [];
    return [
      {
        what: "change a sysctl",
        async make(world) {
          boots = bootsOf(world);
          await world.edit({ machineSpec: { configPatches: [{ machine: { sysctls: { "net.core.somaxconn": "65535" } } }] } });
        },
        isReached: (world) => isSettled(world) && allHave(world, /somaxconn/) && nobodyBooted(world, boots),
      },
    ];
  },
  mayInterrupt: false,
  endsReady: true,
};

/** A setting that takes effect at the next boot. */
export const configReboot: Workload = {
  name: "config-reboot",
  about: "a setting that needs a boot is changed on every machine: one after the other boots",
  choose: (random) => chooseScenario(random),
  steps: () => {
    let boots: Boots = [];
    return [
      {
        what: "change the environment of services",
        async make(world) {
          boots = bootsOf(world);
          await world.edit({ machineSpec: { configPatches: [{ machine: { env: { PROOF_OF_BOOT: "1" } } }] } });
        },
        isReached: (world) =>
          isSettled(world) && allHave(world, /PROOF_OF_BOOT/) && boots.every(([machine, bootId]) => machine.state.bootId !== bootId),
      },
    ];
  },
  mayInterrupt: false,
  endsReady: true,
};
