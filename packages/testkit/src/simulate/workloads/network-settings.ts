import { chooseScenario } from "../scenario.ts";
import type { EditableWorld, Workload } from "../workload.ts";
import { bootsOf, isSettled, nobodyBooted, sparesOf, wantedMachines, type Boots } from "./machines.ts";

/** META key of the network settings that a machine reads before its configuration: 0x0a. */
const NETWORK_KEY = "10";

const settings = (gateway: string): object => ({ interface: "eth0", subnet: 24, gateway, dnsServers: ["10.5.0.53"] });

/** Every machine that is wanted holds its own address and this gateway. */
function allHave(world: EditableWorld, gateway: string): boolean {
  return wantedMachines(world).every(({ address, state }) => {
    const text = state.meta[NETWORK_KEY] ?? "";
    return text.includes(`"${address}/24"`) && text.includes(`"${gateway}"`);
  });
}

/** Static network settings, kept where a machine finds them before its configuration. */
export const networkSettings: Workload = {
  name: "meta",
  about: "static network settings are written to META of every machine while a worker joins, and are taken out: nobody reboots",
  choose: (random) => chooseScenario(random, { controlPlanes: [1, 3], workers: [0, 1], spares: 1 }),
  steps: () => {
    let boots: Boots = [];
    return [
      {
        what: "set static network settings, and one more worker",
        async make(world) {
          boots = bootsOf(world);
          const { workers = [] } = world.stage.desired ?? {};
          await world.edit({ machineSpec: { meta: settings("10.5.0.254") }, workers: [...workers, ...sparesOf(world)] });
        },
        isReached: (world) => isSettled(world) && allHave(world, "10.5.0.254") && nobodyBooted(world, boots),
      },
      {
        what: "take the settings out",
        make: (world) => world.edit({ machineSpec: {} }),
        isReached: (world) =>
          isSettled(world) &&
          wantedMachines(world).every(({ state }) => state.meta[NETWORK_KEY] === undefined) &&
          nobodyBooted(world, boots),
      },
    ];
  },
};
