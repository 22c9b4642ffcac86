import { finalizers, talosControlPlaneResource } from "@talos-operator/api";
import type { ClusterRecord, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import type { KubeClient, KubeObject } from "@talos-operator/kube-runtime";
import type { RandomSource, Timers } from "@talos-operator/ports";
import { createStatusWriter } from "../controllers/shared/status-writer.ts";
import { assess } from "../assess/assess.ts";
import { machinesToChange } from "../report/open-effects.ts";
import { poolStates } from "../report/pool-state.ts";
import { configQuestions, configWish } from "../procedures/configure/config-questions.ts";
import { withConfigs } from "../procedures/configure/observe-configs.ts";
import { decide } from "../decide.ts";
import { talosMachineFor } from "../effects/create-machine.ts";
import { stoppedMachines } from "../procedures/join/plan.ts";
import { observe } from "../observe/observe.ts";
import type { ObservePorts } from "../observe/observe-ports.ts";
import { printRecord, readRecord } from "../record/facts-codec.ts";
import { recordPatch } from "../record/record-patch.ts";
import { ClusterSession } from "../reconcilers/cluster-session.ts";
import type { SessionPorts } from "../reconcilers/cluster-session.ts";
import { machinesOf } from "../spec/declared.ts";
import { tell } from "../report/tell.ts";
import { tellWritten } from "../report/tell-news.ts";
import { MachineWatch } from "../looking/machine-watch.ts";
import type { MachineWatchPorts } from "../looking/machine-watch.ts";
import { LookGate } from "../looking/look-gate.ts";
import { Turnstile } from "../looking/turnstile.ts";
import { configured, controlPlane, facts, founded, inMaintenance, member, NOW, running, silent, worker } from "./builders.ts";
import { silentTelling } from "./silent-telling.ts";
import type { Assessment } from "../model/assessment.ts";
import type { KnownConfig } from "../model/config.ts";
import type { Decision } from "../model/decision.ts";
import type { Action } from "../model/effect.ts";
import type { Look } from "../model/look.ts";
import type { DeclaredMachine, MachineName } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";
import type { ClusterFacts } from "../model/record.ts";
import type { SeenDrain, SeenNode } from "../model/workload.ts";

const CONTROL_PLANES = 3;
const KEY = { namespace: "default", name: "demo" };
const WRITER = { identity: "one", fencingToken: "1/1" };
const YEAR_MS = 365 * 86_400_000;

/** What one pass saw and decided. */
export interface LargePass {
  readonly seen: Observed;
  readonly assessed: Assessment;
  readonly decision: Decision;
}

/** Looks are given, and nobody is asked. */
class GivenLooks extends MachineWatch {
  readonly #looks: ReadonlyMap<MachineName, Look>;

  constructor(ports: MachineWatchPorts, looks: ReadonlyMap<MachineName, Look>) {
    super(ports, () => undefined);
    this.#looks = looks;
  }

  override watch(): void {}

  override look(name: MachineName): Look {
    return this.#looks.get(name) ?? { kind: "not-asked" };
  }
}

class GivenSession extends ClusterSession {
  override readonly machines: MachineWatch;

  constructor(ports: SessionPorts, looks: ReadonlyMap<MachineName, Look>) {
    super(ports, () => undefined);
    this.machines = new GivenLooks(ports, looks);
  }
}

/**
 * A cluster that runs, of three control planes and one pool of as many workers as one likes, for what a pass over it costs. A pass observes, concludes, decides
 * and says the status with the operator's own code; what is asked of others lies in memory, and machines do at once what they are told.
 */
export class LargeCluster {
  readonly #looks = new Map<MachineName, Look>();
  readonly #drains = new Map<MachineName, SeenDrain>();
  readonly #session: GivenSession;
  readonly #ports: ObservePorts;
  readonly #statuses: ReturnType<typeof createStatusWriter<TalosControlPlane>>;
  #controlPlane: TalosControlPlane;
  #pool: TalosWorker;
  #objects: readonly TalosMachine[];
  #nodes: { readonly at: number; readonly list: readonly SeenNode[] };
  #now = NOW;
  #version = 1;
  #sentBytes = 0;

  constructor(workers: number) {
    const clock = { now: (): number => this.#now };
    const client = inMemory((object) => {
      const { status } = object as Pick<TalosControlPlane, "status">;
      this.#controlPlane = { ...this.#controlPlane, ...(status === undefined ? {} : { status }) };
      return this.#controlPlane;
    });
    this.#controlPlane = controlPlane(CONTROL_PLANES);
    this.#pool = poolOf(workers);
    const declared = [...machinesOf(this.#controlPlane), ...machinesOf(this.#pool)];
    for (const [index, machine] of declared.entries()) this.#looks.set(machine.name, lookAt(machine, index));
    this.#objects = declared.map((machine) => objectOf(machine, this.#controlPlane, this.#pool));
    this.#nodes = { at: NOW, list: declared.map(nodeOf) };
    this.#session = new GivenSession(
      { clock, timers, random, dialer: noPort(), gate: new LookGate(timers), turnstile: new Turnstile(1), makingKeys: new Set() },
      this.#looks,
    );
    this.#ports = portsOf(client, clock);
    this.#statuses = createStatusWriter(client, talosControlPlaneResource, clock, "one", silentTelling);
    this.store(
      facts({
        bootstrapDone: founded,
        machines: declared.map(({ address, role, owner }) => configured(address, role, owner.name, { uuid: uuidOf(address) })),
      }),
    );
  }

  /** The bytes that were last sent to write the record. */
  recordBytes(): number {
    return this.#sentBytes;
  }

  /** Takes workers off the list, from its end. @param most may be down at once; default: all that leave */
  unlist(count: number, most = count): void {
    const { metalSpec } = this.#pool.spec!;
    this.#edit({
      metalSpec: { ...metalSpec!, machines: (metalSpec?.machines ?? []).slice(0, -count) },
      rolloutStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: most } },
    });
  }

  /** Puts workers on the list that wait in maintenance mode; nobody configures them. */
  list(count: number): void {
    const { metalSpec } = this.#pool.spec!;
    const machines = metalSpec?.machines ?? [];
    this.#edit({ metalSpec: { ...metalSpec!, machines: [...machines, ...addressesOf(count, machines.length)] } });
    const declared = machinesOf(this.#pool);
    for (const { name, address } of declared.slice(machines.length))
      this.#looks.set(name, inMaintenance(address, { uuid: uuidOf(address) }));
    this.#objects = [
      ...this.#objects,
      ...declared.slice(machines.length).map((machine) => objectOf(machine, this.#controlPlane, this.#pool)),
    ];
  }

  /** The last of the workers do not answer any more. */
  silence(count: number): void {
    for (const { name } of machinesOf(this.#pool).slice(-count)) this.#looks.set(name, silent);
  }

  /** The pool is deleted, and its cluster stays. */
  deletePool(): void {
    this.#pool = { ...this.#pool, metadata: { ...this.#pool.metadata, deletionTimestamp: new Date(this.#now).toISOString() } };
  }

  #edit(spec: Partial<NonNullable<TalosWorker["spec"]>>): void {
    this.#pool = { ...this.#pool, spec: { ...this.#pool.spec!, ...spec } };
  }

  /** One pass, and what comes of its actions. */
  async pass(): Promise<LargePass> {
    const pass = await this.look();
    const { seen, decision, assessed } = pass;
    poolStates(assessed, machinesToChange(decision, seen));
    stoppedMachines(assessed);
    if (decision.actions.length === 0) await tell(this.#controlPlane, seen, decision, assessed.facts, this.#statuses, silentTelling);
    for (const action of decision.actions) this.#carryOut(action, seen);
    this.#forget(decision.actions);
    this.#now += 1_000;
    return pass;
  }

  /** Passes until one does nothing. @returns how many there were, that one with them */
  async settle(): Promise<number> {
    for (let count = 1; count < 10_000; count += 1) if ((await this.pass()).decision.actions.length === 0) return count;
    throw new Error("the cluster does not come to rest");
  }

  /** Observes, concludes and decides. */
  async look(): Promise<LargePass> {
    equip(this.#session, this.#now);
    // What members of etcd said long ago counts for nothing.
    for (const { name } of machinesOf(this.#controlPlane)) this.#lookAgain(name);
    const observed = await observe(
      {
        controlPlane: this.#controlPlane,
        mode: "reconcile",
        isUnread: false,
        unknownMode: undefined,
        isParentGoing: false,
        workers: [this.#pool],
        machineObjects: this.#objects,
        installed: () => [],
        otherPools: [],
        otherMachines: [],
        nameHolder: () => undefined,
        machineElsewhere: () => undefined,
        endpointElsewhere: undefined,
      },
      this.#session,
      this.#ports,
    );
    await this.#readConfigs(observed);
    const seen: Observed = {
      ...withConfigs(observed, this.#session, {
        dialer: noPort(),
        keys: noPort(),
        clock: this.#ports.clock,
        bundle: noPort,
        wake: () => undefined,
      }),
      drains: this.#drains,
      nodes: { at: this.#nodes.at, nodes: this.#nodes.list, isAsking: false, isStale: false, cordoned: new Map() },
    };
    const assessed = assess(seen);
    return { seen, assessed, decision: decide(assessed) };
  }

  /** Writes down what a release of this operator would have: what machines run is what was asked for. */
  store(next: ClusterFacts): void {
    const before = this.#session.record?.value;
    const record = printRecord(KEY, next, before === "absent" ? undefined : before, WRITER);
    const sent = before === undefined || before === "absent" ? record : recordPatch(before, record);
    this.#sentBytes = Buffer.byteLength(JSON.stringify(sent));
    const stored = JSON.parse(
      JSON.stringify({ ...record, metadata: { ...record.metadata, resourceVersion: String((this.#version += 1)) } }),
    ) as ClusterRecord;
    this.#session.record = { at: this.#now, value: stored };
    if (readRecord(stored) === undefined) throw new Error("the record cannot be read back");
  }

  #lookAgain(name: MachineName): void {
    const look = this.#looks.get(name);
    if (look?.kind === "running") this.#looks.set(name, { ...look, at: this.#now });
  }

  /** What is asked for is what they run. Read once, as in a cluster that is left alone. */
  async #readConfigs(seen: Observed): Promise<void> {
    if (seen.record.kind !== "present" || this.#session.configs.seen().size > 0) return;
    const { facts: known } = seen.record.value;
    const questionTo = configQuestions(seen.machines, seen.controlPlane, known);
    const questions = seen.machines.flatMap((machine) => questionTo(machine) ?? []);
    this.#session.configs.ask(
      questions.map((question) => configWish(question, known)),
      async () => ({ read: async ({ settings }) => configOf(settings, this.#now) }),
      () => undefined,
    );
    while (this.#session.configs.wakeAfterReading()) await Promise.resolve();
  }

  /** Objects and Nodes that are deleted, all at once: it is no part of what is measured. */
  #forget(actions: readonly Action[]): void {
    const objects = new Set(actions.flatMap((action) => (action.kind === "DeleteMachine" ? [action.name] : [])));
    const nodes = new Set(actions.flatMap((action) => (action.kind === "DeleteNode" ? [action.node] : [])));
    if (objects.size > 0) this.#objects = this.#objects.filter(({ metadata }) => !objects.has(metadata.name));
    if (nodes.size > 0) this.#nodes = { at: this.#now, list: this.#nodes.list.filter(({ name }) => !nodes.has(name)) };
  }

  #carryOut(action: Action, seen: Observed): void {
    switch (action.kind) {
      case "WriteRecord":
        this.store(action.facts);
        if (seen.record.kind === "present") tellWritten(seen, seen.record.value.facts, action.facts, silentTelling);
        return;
      case "CordonAndDrain":
        this.#drains.set(action.machine, {
          startedAt: this.#now,
          askedAt: this.#now,
          ranMs: 0,
          unreachableMs: 0,
          state: { kind: "drained", at: this.#now },
        });
        return;
      case "ResetMachine":
        this.#session.noteSent(`Reset/${action.machine}`, "answered", "");
        this.#drains.delete(action.machine);
        this.#looks.set(
          action.machine,
          inMaintenance(action.address, { at: this.#now, since: this.#now, uuid: action.ifUuid, spki: `new-${action.address}` }),
        );
        return;
      case "ConfigureMachine":
      case "DeleteMachine":
      case "DeleteNode":
        return;
      case "LookAtNodes":
        this.#nodes = { ...this.#nodes, at: this.#now };
        return;
      default:
        throw new Error(`nobody carries out ${action.kind} here`);
    }
  }
}

function poolOf(count: number): TalosWorker {
  const pool = worker(0, { finalizers: [finalizers.talosWorker] });
  return { ...pool, spec: { ...pool.spec!, metalSpec: { ...pool.spec!.metalSpec!, machines: addressesOf(count, 0) } } };
}

function addressesOf(count: number, from: number): readonly { readonly address: string }[] {
  return Array.from({ length: count }, (_, index) => ({
    address: `10.20.${Math.floor((from + index) / 250)}.${((from + index) % 250) + 1}`,
  }));
}

function lookAt({ role, address }: DeclaredMachine, index: number): Look {
  const etcd = role === "controlplane" ? member(index, CONTROL_PLANES) : undefined;
  return running(etcd, { hardware: { uuid: uuidOf(address), macs: [`mac-${address}`] } });
}

function uuidOf(address: string): string {
  const digits = Buffer.from(address.padEnd(16, "x").slice(0, 16)).toString("hex");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function nodeOf({ name, address }: DeclaredMachine): SeenNode {
  return { name: `node-${name}`, uuid: uuidOf(address), addresses: [address, `node-${name}`], isReady: true, isCordonedByUs: false };
}

function objectOf(machine: DeclaredMachine, own: TalosControlPlane, pool: TalosWorker): TalosMachine {
  return talosMachineFor(machine, machine.role === "controlplane" ? own : pool, own.metadata.name);
}

function configOf(settings: string, at: number): KnownConfig {
  return { kind: "known", at, settings, bootId: "boot-1", version: "v1.13.9", activeHash: settings, changes: [], onDisk: "wanted" };
}

/** Keys, credentials and access are there, and in order. */
function equip(session: ClusterSession, now: number): void {
  const { bundle, clusterId } = facts();
  if (session.record !== undefined) session.record = { ...session.record, at: now };
  session.bundle = {
    at: now,
    value: { kind: "present", value: { fingerprint: bundle.fingerprint, clusterId, isOurs: true, isDeleting: false } },
  };
  session.credentialsFor = { fingerprint: bundle.fingerprint, renewAt: now + YEAR_MS };
  const access = { kind: "present", value: { expiresAt: now + YEAR_MS, isOurs: true } } as const;
  session.kubeconfig = { at: now, value: access };
  session.talosconfig = { at: now, value: access };
}

function inMemory(apply: (object: KubeObject) => KubeObject): KubeClient {
  const resource = { tryGet: async () => ({ metadata: { name: "there" } }), applyStatus: async (object: KubeObject) => apply(object) };
  return { resource: () => resource } as unknown as KubeClient;
}

function portsOf(client: KubeClient, clock: ObservePorts["clock"]): ObservePorts {
  return {
    client,
    clock,
    bundles: noPort(),
    access: noPort(),
    keys: noPort(),
    hosts: {},
    references: { follow: async () => () => ({ kind: "unknown" }) as never, forget: () => undefined, close: () => undefined },
    configs: { resolve: async () => undefined as never },
    wake: () => undefined,
    clusters: 1,
    mayDisturb: true,
    machineRules: { requireFingerprint: false },
  };
}

const timers: Timers = { sleep: async () => undefined, schedule: () => ({ cancel: () => undefined }) };
const random: RandomSource = { bytes: (length) => new Uint8Array(length), fraction: () => 0 };

/** Whoever uses it is told so. */
function noPort<T extends object>(): T {
  const use = (): never => {
    throw new Error("nothing is asked of others here");
  };
  return new Proxy({}, { get: use }) as T;
}
