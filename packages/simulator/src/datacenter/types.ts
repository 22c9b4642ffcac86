import type { Clock, Keys, RandomSource, TalosDialer, Timers } from "@talos-operator/ports";
import type { EtcdCluster } from "../etcd/model.ts";
import type { MachineSpec } from "../node/hardware.ts";
import type { DefragmentTime, EtcdAlarm, Machine } from "../node/machine.ts";
import type { EtcdDatabase } from "../etcd/etcd-database.ts";
import type { ReleaseFault } from "../node/releases.ts";
import type { Timings } from "../node/timings.ts";
import type { WorkloadApi } from "../workload/api.ts";
import type { Fault, FaultHandle } from "./faults.ts";
import type { IncomingCall, Reply } from "./call.ts";

export interface DatacenterOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  /** Makes and checks certificates: X.509 for real servers, value tokens in a simulated world. */
  readonly keys: Keys;
  /** Machines that exist from the start, powered on. */
  readonly machines: readonly MachineSpec[];
  /** Default `demoTimings`. */
  readonly timings?: Timings;
  /** Without it the clusters have no Kubernetes API: etcd runs, Nodes never register. */
  readonly workload?: WorkloadApi;
  /** State of an earlier datacenter (`Datacenter.snapshot`). Machines in it win over `machines` of the same address. */
  readonly snapshot?: DatacenterSnapshot;
  /** Every call, twice: when it arrives and when it was answered. For traces; must not throw. */
  readonly onCall?: (event: CallEvent) => void;
  /**
   * A machine or an etcd changed. Awaited before a reply leaves the machine that changed, so that a caller never learns
   * of a state that a crash could undo.
   */
  readonly onChange?: (change: DatacenterChange) => Promise<void> | void;
}

/** Simulated machines and the network between them. */
export interface Datacenter {
  /**
   * Channels to the machines inside this process, without encoding.
   *
   * @param callerClock by which the caller judges a machine's certificate; default the clock of the machines
   */
  dialer(callerClock?: Clock): TalosDialer;
  /** @throws SimulatorError `UNKNOWN_MACHINE` */
  machine(address: string): SimulatedMachine;
  machines(): readonly SimulatedMachine[];
  /** Adds a machine and powers it on. @throws SimulatorError `ADDRESS_IN_USE` */
  addMachine(spec: MachineSpec): SimulatedMachine;
  /** Makes calls go wrong until the handle is removed or its count is used up. */
  inject(fault: Fault): FaultHandle;
  /** Says what is wrong with a release of Talos (`v1.14.0`) from now on; `undefined` = nothing. */
  setReleaseFault(version: string, fault: ReleaseFault | undefined): void;
  /** Says which kernel arguments are in what is built from a schematic, in every release; before that it has none. */
  setKernelArguments(schematic: string, names: readonly string[]): void;
  /** Says which system extensions are in what is built from a schematic, in every release; before that it has none. */
  setExtensions(schematic: string, extensions: readonly string[]): void;
  /** etcd clusters that exist, one per founding; more than one with the same Talos cluster id is somebody's mistake. */
  etcdClusters(): readonly EtcdCluster[];
  /** The database of the etcd with this key, to fill it, to write to it, to compact it; `undefined` when there is no such etcd. */
  etcdDatabase(key: string): EtcdDatabase | undefined;
  /**
   * Handles one call that reached `address`, as the servers in `adapters/` do after their TLS handshake.
   * Checks roles, forwards, and applies faults that lie behind the handshake.
   */
  handle(address: string, call: IncomingCall): Promise<Reply>;
  /** Called after every change of a machine, also of its TLS identity or power. Returns the function that ends it. */
  onMachine(listener: (machine: SimulatedMachine) => void): () => void;
  /** Everything needed to go on later: plain JSON, with the private keys of the machines. */
  snapshot(): DatacenterSnapshot;
  /** Stops all timers and workload APIs; calls in flight fail. */
  close(): Promise<void>;
}

/** One machine, seen from outside. Reading is always current. */
export interface SimulatedMachine {
  readonly address: string;
  readonly name: string;
  /** The machine's whole state. A new value after each change. */
  readonly state: Machine;
  /** Cuts the power; disks keep what they had. */
  powerOff(): void;
  powerOn(): void;
  /** Pulls and reconnects the plug: a new boot at once. */
  powerCycle(): void;
  /** `false` cuts the network in both directions; the machine itself goes on. */
  setConnected(connected: boolean): void;
  /** `false`: its disk or network is too slow for etcd, and a learner on it is promoted only after `true`. */
  setCatchingUp(isCatchingUp: boolean): void;
  /** Puts an empty system disk into a machine that is off; one that is on keeps what it has. A container is made anew without its volumes. */
  replaceDisk(): void;
  /** Puts another network card into a machine that is off: a container that is made anew has another hardware address, too. */
  replaceCard(mac: string): void;
  /** Runs a network plugin on it, as what a person installs in the cluster does; a machine whose configuration brings one needs none. */
  installNetwork(): void;
  /**
   * Its member of etcd raises an alarm for nothing, which every member of that etcd tells until somebody takes it back; `undefined` takes back what its member, or
   * one that it was before, has raised.
   */
  setEtcdAlarm(alarm: EtcdAlarm | undefined): void;
  /**
   * The data of its member are wrong from now on, and the leader has just found out, if it can.
   *
   * @param data two members of the same word have the same wrong data; default: nobody else's
   */
  corruptEtcd(data?: string): void;
  /** How long a defragmentation takes here, whatever the size; `undefined`: as its timings say. */
  setDefragmentTime(takes: DefragmentTime | undefined): void;
}

/** Plain JSON. */
export interface DatacenterSnapshot {
  readonly version: 1;
  readonly machines: readonly Machine[];
  readonly etcdClusters: readonly EtcdCluster[];
}

export type DatacenterChange =
  { readonly kind: "machine"; readonly machine: Machine } | { readonly kind: "etcd"; readonly cluster: EtcdCluster };

/** What `onCall` tells. */
export interface CallEvent {
  /** Counts calls from 1. */
  readonly id: number;
  readonly phase: "received" | "answered";
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Address that was dialled. */
  readonly endpoint: string;
  /** Address that answers: differs from `endpoint` when `node` metadata named another machine. */
  readonly machine: string;
  /** `/machine.MachineService/Version` */
  readonly path: string;
  /** True when the RPC can change a machine or a cluster. */
  readonly mutating: boolean;
  /** gRPC status; only in phase `answered`, 0 also for a stream that began. */
  readonly code?: number;
}
