import type { KubeClient, KubeObject, ResourceType } from "@talos-operator/kube-runtime";
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
  /** What an earlier provider gave, by `namespace/name`. Default: nothing. */
  readonly given?: ReadonlyMap<string, string>;
  /** How long a Machine that is asked for the first time is waited for. Milliseconds. Default: not at all. */
  readonly delayMs?: () => number;
  /** Whenever a Machine was given an address, or is finished with. */
  readonly onChange?: () => void;
}

/** A machine provider whose hardware is the simulated datacenter, and what a story does to it. */
export interface ProvidedMachines {
  /** Addresses that Machines have, by `namespace/name`. */
  readonly given: ReadonlyMap<string, string>;
  /** No further machine is started while this holds, but for Machines of these names. */
  hold(isHeld: boolean, but?: readonly string[]): void;
  /** The next machine of this name gets this address, whoever has it. */
  giveNext(name: string, address: string): void;
  /** From now on it names this address before the one that each machine is called by. It says so when it writes a status next. */
  nameFirst(address: string): void;
  /** Gives a Machine another machine than it said at first. It says so when its object is touched next. */
  correct(key: string): void;
  /** Ends the provider. */
  close(): Promise<void>;
}

/** Starts a provider that takes the free machines of the datacenter in their order, those that it never gave first. */
export function createProvidedMachines({ client, datacenter, delayMs, onChange, ...options }: ProvidedMachinesOptions): ProvidedMachines {
  const { given: before, ...ports } = options;
  const given = new Map(before);
  const ever = new Set(given.values());
  const forced = new Map<string, string>();
  const dueAt = new Map<string, number>();
  let isHeld: (name: string) => boolean = () => false;
  let namedFirst: readonly string[] = [];
  const talkative: KubeClient = {
    ...client,
    resource<T extends KubeObject>(type: ResourceType) {
      const real = client.resource<T>(type);
      return {
        ...real,
        applyStatus: (...[object, options]: Parameters<typeof real.applyStatus>) =>
          real.applyStatus(withOthers(object, namedFirst), options),
      };
    },
  };
  const keyOf = ({ metadata }: Machine): string => `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;
  const isDue = (key: string): boolean => {
    const now = ports.clock.now();
    const due = dueAt.get(key) ?? now + (delayMs?.() ?? 0);
    dueAt.set(key, due);
    return now >= due;
  };
  const free = (): string | undefined => {
    const taken = new Set(given.values());
    const addresses = datacenter.machines().map(({ address }) => address);
    return addresses.find((address) => !ever.has(address)) ?? addresses.find((address) => !taken.has(address));
  };
  const give = (key: string, address: string): void => {
    given.set(key, address);
    ever.add(address);
    const real = datacenter.machine(address);
    if (real.state.power === "off") real.powerOn();
    onChange?.();
  };
  const hardware: Hardware = {
    async start(machine) {
      const key = keyOf(machine);
      const known = given.get(key);
      if (known !== undefined) return known;
      if (isHeld(machine.metadata?.name ?? "") || !isDue(key)) return undefined;
      const address = forced.get(machine.metadata?.name ?? "") ?? free();
      if (address !== undefined) give(key, address);
      return address;
    },
    async stop(machine) {
      const key = keyOf(machine);
      const address = given.get(key);
      given.delete(key);
      dueAt.delete(key);
      if (address !== undefined && ![...given.values()].includes(address)) datacenter.machine(address).powerOff();
      onChange?.();
    },
  };
  const stop = new AbortController();
  const done = provideMachines({ client: talkative, hardware, isOurs: () => true, ...ports }, stop.signal);
  return {
    given,
    hold: (held, but = []) => {
      isHeld = (name) => held && !but.includes(name);
    },
    giveNext: (name, address) => void forced.set(name, address),
    nameFirst: (address) => {
      namedFirst = [address];
    },
    correct(key) {
      const address = free();
      if (given.has(key) && address !== undefined) give(key, address);
    },
    async close() {
      stop.abort();
      await done;
    },
  };
}

/** The same status with further addresses before its own. */
function withOthers<T extends object>(object: T, others: readonly string[]): T {
  const { status } = object as { readonly status?: Machine["status"] };
  if (status?.publicIPAddresses === undefined || others.length === 0) return object;
  return { ...object, status: { ...status, publicIPAddresses: [...others, ...status.publicIPAddresses] } };
}
