import { talosMachineResource } from "@talos-operator/api";
import { systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import type { TalosMachine } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Logger } from "@talos-operator/ports";
import type { Datacenter } from "@talos-operator/simulator";
import { provideMachines, type Hardware, type Machine } from "../../../../examples/machine-provider/provider.ts";
import type { SimulatedAddress } from "./first-address.ts";
import { requireBindable } from "./loopback.ts";

export interface ProvidedMachinesOptions {
  readonly client: KubeClient;
  readonly datacenter: Datacenter;
  readonly talosVersion: string;
  /** Addresses that manifests name: their machines are spoken for. */
  readonly named: readonly string[];
  readonly addressOf: SimulatedAddress;
  /** No machine is added beyond this one. */
  readonly mostMachines: number;
  readonly log: Logger;
}

/**
 * Fulfils every Machine with a simulated one: a spare first, else a new one at the next loopback address. One whose Machine is deleted is powered off, and
 * is a spare again. Which machine is whose stands in the status of the Machines, so that it is the same after a restart.
 */
export function startProvidedMachines({ client, datacenter, talosVersion, named, addressOf, mostMachines, log }: ProvidedMachinesOptions): {
  close(): Promise<void>;
} {
  const machines = client.resource<Machine>({
    group: "vitistack.io",
    version: "v1alpha1",
    plural: "machines",
    kind: "Machine",
    namespaced: true,
  });
  const given = new Map<string, string>();
  // One after another: two Machines must not find the same spare.
  let turn: Promise<unknown> = Promise.resolve();

  const keyOf = ({ metadata }: Machine): string => `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;
  const taken = async (): Promise<ReadonlySet<string>> => {
    const talosMachines = await client.resource<TalosMachine>(talosMachineResource).list();
    const others = await machines.list();
    return new Set([
      ...named,
      ...given.values(),
      ...talosMachines.items.map(({ spec }) => spec?.endpoint ?? ""),
      ...others.items.flatMap(({ status }) => status?.publicIPAddresses ?? []),
    ]);
  };
  const choose = async (machine: Machine): Promise<string | undefined> => {
    const own = given.get(keyOf(machine)) ?? machine.status?.publicIPAddresses?.[0];
    if (own !== undefined && datacenter.machines().some(({ address }) => address === own)) return own;
    const isTaken = await taken();
    const spare = datacenter.machines().find(({ address }) => !isTaken.has(address));
    if (spare !== undefined) return spare.address;
    for (let n = 1; n <= mostMachines; n += 1) {
      const address = addressOf(n);
      if (isTaken.has(address) || datacenter.machines().some((one) => one.address === address)) continue;
      await requireBindable([address]);
      datacenter.addMachine({ address, talosVersion });
      return address;
    }
    return undefined;
  };
  const hardware: Hardware = {
    start(machine) {
      const next = turn.then(async () => {
        const address = await choose(machine);
        if (address === undefined) return undefined;
        given.set(keyOf(machine), address);
        const simulated = datacenter.machine(address);
        if (simulated.state.power === "off") simulated.powerOn();
        return address;
      });
      turn = next.catch(() => undefined);
      return next;
    },
    async stop(machine) {
      const address = given.get(keyOf(machine)) ?? machine.status?.publicIPAddresses?.[0];
      given.delete(keyOf(machine));
      if (address !== undefined && datacenter.machines().some((one) => one.address === address)) datacenter.machine(address).powerOff();
    },
  };
  const stopping = new AbortController();
  const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };
  const done = provideMachines({ client, hardware, isOurs: () => true, ...ports, log }, stopping.signal);
  return {
    async close() {
      stopping.abort();
      await done;
    },
  };
}
