import type { Clock, Keys, RandomSource, Timers } from "@talos-operator/ports";
import type { EtcdCluster } from "../etcd/model.ts";
import type { MachineOutput } from "../node/inputs.ts";
import { activeFacts } from "../node/identity.ts";
import type { ReleaseFault } from "../node/releases.ts";
import type { Timings } from "../node/timings.ts";
import { WorkloadClusters } from "../workload/clusters.ts";
import { issueMaintenanceIdentity, issueServerIdentity } from "./certificates.ts";
import { Cell } from "./cell.ts";
import { EtcdDatabases } from "../etcd/databases.ts";
import { EtcdSpaces } from "../etcd/spaces.ts";
import { EtcdRegistry } from "./etcd-registry.ts";
import { FaultTable } from "./faults.ts";
import type { Surroundings } from "./surroundings.ts";
import type { CallEvent, DatacenterChange, DatacenterOptions, SimulatedMachine } from "./types.ts";
import type { Machine } from "../node/machine.ts";

const waitingForCertificates = "Waiting for api certificates";

/** Everything that machines share: time, keys, the network, etcd clusters, workload APIs. */
export class World implements Surroundings {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly keys: Keys;
  readonly timings: Timings;
  readonly etcd: EtcdRegistry;
  readonly workloads: WorkloadClusters;
  readonly databases: EtcdDatabases;
  readonly spaces: EtcdSpaces;
  readonly faults = new FaultTable();
  /** Names of system extensions by schematic. */
  readonly extensions = new Map<string, readonly string[]>();
  /** Kernel arguments by schematic. */
  readonly kernelArguments = new Map<string, readonly string[]>();
  readonly releases = new Map<string, ReleaseFault>();
  isClosed = false;
  readonly #cells = new Map<string, Cell>();
  readonly #listeners = new Set<(machine: SimulatedMachine) => void>();
  readonly #onChange: DatacenterOptions["onChange"];
  readonly #onCall: DatacenterOptions["onCall"];
  #calls = 0;
  #etcdSaved: Promise<void> | undefined;

  constructor(options: DatacenterOptions, timings: Timings) {
    this.clock = options.clock;
    this.timers = options.timers;
    this.random = options.random;
    this.keys = options.keys;
    this.timings = timings;
    this.#onChange = options.onChange;
    this.#onCall = options.onCall;
    this.etcd = new EtcdRegistry(this);
    this.workloads = new WorkloadClusters(this, options.workload);
    this.databases = new EtcdDatabases(this);
    this.spaces = new EtcdSpaces(this);
  }

  cells(): readonly Cell[] {
    return [...this.#cells.values()];
  }

  cell(address: string): Cell | undefined {
    return this.#cells.get(address);
  }

  add(machine: Machine): Cell {
    const cell = new Cell(this, machine);
    this.#cells.set(cell.address, cell);
    return cell;
  }

  onMachine(listener: (machine: SimulatedMachine) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  machineChanged(cell: Cell): void {
    for (const listener of this.#listeners) listener(cell);
  }

  save(change: DatacenterChange): Promise<void> | undefined {
    return this.#onChange?.(change) ?? undefined;
  }

  saveEtcd(cluster: EtcdCluster): void {
    const saving = this.save({ kind: "etcd", cluster });
    if (saving === undefined) return;
    const saved = Promise.all([this.#etcdSaved, saving]).then(() => undefined);
    this.#etcdSaved = saved;
    const settle = (): void => {
      if (this.#etcdSaved === saved) this.#etcdSaved = undefined;
    };
    saved.then(settle, () => undefined);
  }

  /** Every change of etcd so far is saved. */
  etcdSettled(): Promise<void> | undefined {
    return this.#etcdSaved;
  }

  nextCallId(): number {
    this.#calls += 1;
    return this.#calls;
  }

  trace(event: CallEvent): void {
    this.#onCall?.(event);
  }

  /** Certificates that this machine takes for its own cluster's. */
  osCasOf(cell: Cell): readonly string[] {
    return activeFacts(cell.state)?.acceptedOsCas ?? [];
  }

  /** Does what a machine wants from the world. */
  perform(cell: Cell, output: MachineOutput): void {
    switch (output.kind) {
      case "issue-identity":
        return this.#issueIdentity(cell, output.which);
      case "found-etcd":
        return this.etcd.found(cell);
      case "join-etcd":
        return this.etcd.join(cell);
      case "promote-etcd":
        this.etcd.promote(cell);
        return this.#evaluate(cell);
      case "leave-etcd":
        return this.etcd.leave(cell);
      case "etcd-changed":
        return this.#evaluate(cell);
      case "etcd-started":
        return this.etcd.compare(cell);
      case "etcd-defragmented":
        return this.spaces.defragmented(cell);
      case "trustd-up":
        for (const other of this.cells()) {
          if (
            other.state.power === "on" &&
            other.state.api.kind === "down" &&
            other.state.services["apid"]?.events.at(-1)?.message === waitingForCertificates
          ) {
            this.#issueIdentity(other, "configured");
          }
        }
        return;
      case "kubelet-up":
        return this.workloads.kubeletUp(cell);
      case "kubernetes-up":
      case "kubernetes-down":
        return this.workloads.reconcile(this.etcd.of(cell));
      case "register-node":
        return this.workloads.registerNode(cell);
      case "node-ready":
        return this.workloads.nodeReady(cell);
      case "drain-node":
        return this.workloads.drainNode(cell);
      case "node-lost":
        return this.workloads.nodeLost(cell);
    }
  }

  etcdEvaluated(cluster: EtcdCluster): void {
    this.workloads.reconcile(cluster);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const cell of this.cells()) cell.close();
    await this.workloads.close();
  }

  #evaluate(cell: Cell): void {
    const cluster = this.etcd.of(cell);
    if (cluster !== undefined) this.etcd.evaluate(cluster.key);
  }

  #issueIdentity(cell: Cell, which: "maintenance" | "configured"): void {
    const { bootId } = cell.state;
    const issue = async (): Promise<void> => {
      const issued =
        which === "maintenance"
          ? { identity: await issueMaintenanceIdentity(this, cell), names: [] }
          : await issueServerIdentity(this, cell);
      // Another boot has begun while the key was made.
      if (cell.state.bootId !== bootId || cell.state.power === "off") return;
      if (issued === undefined) cell.dispatch({ kind: "identity-refused" });
      else cell.dispatch({ kind: "identity", which, ...issued });
    };
    // Keys that cannot be made leave the API closed, as on a machine; the reason shows in the service list.
    issue().catch(() => {
      if (cell.state.bootId === bootId) cell.dispatch({ kind: "identity-refused" });
    });
  }
}
