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

const PROOF = { machine: { env: { PROOF_OF_BOOT: "1" } } };

/** Workers leave a pool whose others boot for new settings: both take machines down, and share what may be. */
export const changeAndLeave: Workload = {
  name: "change-and-leave",
  about: "workers leave a pool while the others boot, one machine of the pool at a time",
  choose: (random) => chooseScenario(random, { controlPlanes: [1, 3], workers: [3, 4] }),
  steps: (_scenario, random) => {
    const delayMs = random.fraction() < 0.3 ? 0 : Math.floor(random.fraction() * 120_000);
    const isChangeFirst = random.fraction() < 0.5;
    let hasBoth = false;
    return [
      {
        what: isChangeFirst
          ? "change the environment of services, then take two workers away"
          : "take two workers away, then change the environment",
        async make(world) {
          const leave = (): Promise<void> => world.edit({ workers: (world.stage.desired?.workers ?? []).slice(2) });
          const change = (): Promise<void> => world.edit({ machineSpec: { configPatches: [PROOF] } });
          await (isChangeFirst ? change() : leave());
          world.timers.schedule(delayMs, () => {
            hasBoth = true;
            void (isChangeFirst ? leave() : change());
          });
        },
        isReached: (world) => hasBoth && isSettled(world) && allHave(world, /PROOF_OF_BOOT/),
      },
    ];
  },
  mayInterrupt: false,
  endsReady: true,
};
