import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Clock, Logger, RandomSource, Timers } from "@talos-operator/ports";
import type { Datacenter } from "@talos-operator/simulator";
import { provideMachines } from "../../../../examples/machine-provider/provider.ts";
import type { Hardware, Machine } from "../../../../examples/machine-provider/provider.ts";

/** What a provider in a simulated world is made from. */
export interface ProvidedMachinesOptions {
  readonly client: KubeClient;
  readonly datacenter: Datacenter;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly log: Logger;
}

/** A machine provider whose hardware is the simulated datacenter, and what a story does to it. */
export interface ProvidedMachines {
  /** Addresses that Machines have, by `namespace/name`. */
  readonly given: ReadonlyMap<string, string>;
  /** No further machine is started while this holds. */
  hold(isHeld: boolean): void;
  /** The next machine of this name gets this address, whoever has it. */
  giveNext(name: string, address: string): void;
  /** Ends the provider. */
  close(): Promise<void>;
}

/** Starts a provider that takes the free machines of the datacenter in their order. */
export function createProvidedMachines({ client, datacenter, ...ports }: ProvidedMachinesOptions): ProvidedMachines {
  const given = new Map<string, string>();
  const forced = new Map<string, string>();
  let isHeld = false;
  const keyOf = ({ metadata }: Machine): string => `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;
  const hardware: Hardware = {
    async start(machine) {
      const key = keyOf(machine);
      const known = given.get(key);
      if (known !== undefined) return known;
      if (isHeld) return undefined;
      const taken = new Set(given.values());
      const wanted = forced.get(machine.metadata?.name ?? "");
      const address = wanted ?? datacenter.machines().find((one) => !taken.has(one.address))?.address;
      if (address === undefined) return undefined;
      given.set(key, address);
      const real = datacenter.machine(address);
      if (real.state.power === "off") real.powerOn();
      return address;
    },
    async stop(machine) {
      const key = keyOf(machine);
      const address = given.get(key);
      given.delete(key);
      if (address !== undefined && ![...given.values()].includes(address)) datacenter.machine(address).powerOff();
    },
  };
  const stop = new AbortController();
  const done = provideMachines({ client, hardware, isOurs: () => true, ...ports }, stop.signal);
  return {
    given,
    hold: (held) => {
      isHeld = held;
    },
    giveNext: (name, address) => void forced.set(name, address),
    async close() {
      stop.abort();
      await done;
    },
  };
}
