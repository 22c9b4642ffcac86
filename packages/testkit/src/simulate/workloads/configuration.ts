import { chooseScenario } from "../scenario.ts";
import type { EditableWorld, Workload } from "../workload.ts";
import { allBooted, bootsOf, changeEnvironment, comparing, isSettled, nobodyBooted, wantedMachines } from "./machines.ts";

function allHave(world: EditableWorld, word: RegExp): boolean {
  return wantedMachines(world).every(({ state }) => word.test(state.config.active ?? "") && word.test(state.config.persisted ?? ""));
}

/** A setting that takes effect without a restart. */
export const configLive: Workload = {
  name: "config-live",
  about: "a setting that takes effect at once is changed on every machine, and nobody reboots",
  choose: (random) => chooseScenario(random),
  steps: () => [
    comparing(bootsOf, {
      what: "change a sysctl",
      make: (world) => world.edit({ machineSpec: { configPatches: [{ machine: { sysctls: { "net.core.somaxconn": "65535" } } }] } }),
      isReached: (world, boots) => isSettled(world) && allHave(world, /somaxconn/) && nobodyBooted(world, boots),
    }),
  ],
};

/** A setting that takes effect at the next boot. */
export const configReboot: Workload = {
  name: "config-reboot",
  about: "a setting that needs a boot is changed on every machine: one after the other boots",
  choose: (random) => chooseScenario(random),
  steps: () => [
    comparing(bootsOf, {
      what: "change the environment of services",
      make: changeEnvironment,
      isReached: (world, boots) => isSettled(world) && allHave(world, /PROOF_OF_BOOT/) && allBooted(boots),
    }),
  ],
};

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
          await (isChangeFirst ? changeEnvironment(world) : leave());
          world.timers.schedule(delayMs, () => {
            hasBoth = true;
            void (isChangeFirst ? leave() : changeEnvironment(world));
          });
        },
        isReached: (world) => hasBoth && isSettled(world) && allHave(world, /PROOF_OF_BOOT/),
      },
    ];
  },
};
