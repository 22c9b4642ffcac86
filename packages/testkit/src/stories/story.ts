import { controlPlaneVirtualSharedIPResource, crds, findCondition, networkNamespaceResource } from "@talos-operator/api";
import type { CustomResourceDefinition } from "@talos-operator/api";
import type { Condition, TalosCluster } from "@talos-operator/api";
import { createApiServer } from "@talos-operator/apiserver";
import { createKubeClient, eventType } from "@talos-operator/kube-runtime";
import type { KubeClient, KubeObject, MetricsRegistry, ResourceType } from "@talos-operator/kube-runtime";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import type { VirtualTime } from "@talos-operator/kube-runtime/testing";
import { createOperator } from "@talos-operator/operator";
// Loads what the operator loads late: that takes real time, which the clock of this world knows nothing of.
import "@talos-operator/operator/testing";
import type {
  AddonDependencies,
  BackupDependencies,
  OperatorDependencies,
  OperatorOptions,
  Permission,
  PolicyRule,
} from "@talos-operator/operator";
import type {
  Clock,
  EndpointProbe,
  FileTree,
  Keys,
  KubeTransport,
  Logger,
  RandomSource,
  TalosDialer,
  WorkloadDialer,
} from "@talos-operator/ports";
import { createDatacenter, instantTimings } from "@talos-operator/simulator";
import type { CallEvent, Datacenter, EtcdDatabase, MachineSpec, Timings } from "@talos-operator/simulator";
import { mortalTimers } from "../simulate/faulty-ports.ts";
import { createLife, never } from "../simulate/life.ts";
import type { Life } from "../simulate/life.ts";
import { recorded } from "../world/accesses.ts";
import type { Access } from "../world/accesses.ts";
import { copiedStore } from "../world/copied-store.ts";
import { crdType, ours, secretType } from "../world/kinds.ts";
import { grantPermissions, operatorAccount } from "../world/operator-account.ts";
import type { RecordedWorld } from "../world/recorded-world.ts";
import { rerouted } from "../world/rerouted.ts";
import { storedCrds } from "../world/stored-crds.ts";
import { createValueKeys } from "../world/value-keys.ts";
import { cutBy, diesWithItsCall } from "../world/dies-with-its-call.ts";
import { withCalls } from "../world/with-calls.ts";
import { createDialledWorkloads } from "../world/dialled-workloads.ts";
import type { DialledWorkloads } from "../world/dialled-workloads.ts";

/** Kinds that stories look at. */
export const kinds = {
  cluster: ours("talosclusters"),
  controlPlane: ours("taloscontrolplanes"),
  worker: ours("talosworkers"),
  machine: ours("talosmachines"),
  record: ours("clusterrecords"),
  kubernetesCluster: ours("kubernetesclusters"),
  networkNamespace: networkNamespaceResource,
  sharedAddress: controlPlaneVirtualSharedIPResource,
  vitistackMachine: ours("machines"),
  secret: secretType,
  event: eventType,
} satisfies Record<string, ResourceType>;

/** Other people's kind that stories let `machineRef` lead to, as the chart's `machineRefRules` would open it. */
const hostRules: PolicyRule = { apiGroups: ["hosts.example.dev"], resources: ["hosts"], verbs: ["get", "list", "watch"] };

/** What a story begins with. */
export interface StoryOptions {
  /** Machines by address. Default: six at 10.5.0.1 and following. */
  readonly machines?: readonly MachineSpec[];
  readonly timings?: Timings;
  readonly operator?: OperatorOptions;
  /** What DNS answers; may be changed while the story is told. Default: it knows no name. */
  readonly names?: ReadonlyMap<string, readonly string[]>;
  /** The operator's clock. Default: the world's. */
  readonly operatorClock?: (real: Clock) => Clock;
  readonly dialer?: (real: TalosDialer) => TalosDialer;
  /** The operator's way to the APIs of clusters. Default: the world's. */
  readonly workloads?: (real: WorkloadDialer) => WorkloadDialer;
  /** What the operator is told of the endpoints of clusters. Default: the truth. */
  readonly endpoints?: (real: EndpointProbe) => EndpointProbe;
  /** Where the operator writes files. Default: nowhere. */
  readonly files?: FileTree;
  /** What the operator may do. Default: the whole table, as the chart gives it. */
  readonly permissions?: readonly Permission[];
  /** The operator's transport. Default: the embedded API's own. */
  readonly kube?: (real: KubeTransport) => KubeTransport;
  /** Hears what the operator logs. Default: nobody. */
  readonly log?: Logger;
  /** Where the operator keeps its figures. Default: nowhere. */
  readonly metrics?: MetricsRegistry;
  /** How backups are taken, with the operator's own client. Default: not at all. */
  readonly backups?: (client: KubeClient) => BackupDependencies;
  /** How addons are installed, with the operator's own client. Default: not at all. */
  readonly addons?: (client: KubeClient) => AddonDependencies;
  /** Deployments, DaemonSets and the like of the cluster get their pods. Default: nobody makes any. */
  readonly hasWorkloadControllers?: boolean;
  /** Kinds that are installed. Default: ours. */
  readonly crds?: readonly CustomResourceDefinition[];
  /** What another release left behind, to go on from: its machines win over `machines` of the same address. Default: nothing. */
  readonly from?: RecordedWorld;
}

/** An object with conditions. */
export type Conditioned = KubeObject & {
  readonly spec?: Record<string, unknown>;
  readonly status?: { readonly state?: string; readonly conditions?: readonly Condition[] };
};

/** One simulated world with an operator in it, told step by step. */
export interface Story {
  readonly time: VirtualTime;
  readonly client: KubeClient;
  /** The API as an administrator has it. */
  readonly truth: KubeTransport;
  readonly datacenter: Datacenter;
  readonly keys: Keys;
  /** Mutating Talos calls and their addresses, in order: `ApplyConfiguration 10.5.0.1`. Only those that were answered OK. */
  readonly effects: readonly string[];
  /** Mutating Talos calls that arrived at a machine, whatever came of them. */
  readonly sent: readonly string[];
  /** Writes of the operator to the Kubernetes API but those of its lease, in order: `PATCH /apis/...`. */
  readonly writes: readonly string[];
  /** What the operator needed rights for, each once. */
  readonly accesses: ReadonlyMap<string, Access>;
  /** Writes of the operator to the API of the cluster itself, in order: `PATCH /api/v1/nodes/...`. */
  readonly workloadWrites: readonly string[];
  /** The API of the cluster itself, past the network. */
  workload(): KubeClient;
  /** From now on what stands at the address `from` is the machine of the address `to`; `undefined` ends it. */
  reroute(from: string, to: string | undefined): void;
  /** Starts an operator; the one before is told to stop first. */
  start(): Promise<void>;
  /** Stops the operator as SIGTERM does. */
  stop(): Promise<void>;
  /** Ends the operator as `kill -9` does: nothing that it holds or awaits has any effect from here on. */
  kill(): Promise<void>;
  get(type: ResourceType, name?: string): Promise<Conditioned | undefined>;
  condition(type: ResourceType, condition: string, name?: string): Promise<Condition | undefined>;
  /** Lets virtual time pass in small steps until it holds; fails with the conditions of the cluster when it does not within `seconds`. */
  until(what: string, holds: () => Promise<boolean>, seconds?: number): Promise<void>;
  untilReady(seconds?: number): Promise<void>;
  annotate(type: ResourceType, annotation: string, value: string | undefined): Promise<void>;
  end(): Promise<void>;
}

/** Tells one story in virtual time and ends its world, whatever happens. */
export async function tell(options: StoryOptions, story: (world: Story) => Promise<void>): Promise<void> {
  const world = await createStory(options);
  try {
    await story(world);
  } finally {
    await world.end();
  }
}

/** A TalosCluster `demo` whose control planes and workers are at the given addresses. */
export function demoCluster(
  controlPlanes: readonly string[],
  workers: readonly string[] = [],
  over: Record<string, unknown> = {},
): TalosCluster {
  const common = { version: "v1.13.9", kubeVersion: "v1.36.3", mode: "metal" as const };
  const pool = (addresses: readonly string[]): { readonly metalSpec: object } => ({
    metalSpec: { machines: addresses.map((address) => ({ address })), machineSpec: { installDisk: "/dev/sda" } },
  });
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosCluster",
    metadata: { namespace: "default", name: "demo" },
    spec: {
      controlPlane: { ...common, endpoint: "https://10.5.0.100:6443", ...pool(controlPlanes), ...over },
      ...(workers.length === 0 ? {} : { worker: { ...common, ...pool(workers) } }),
    },
  };
}

/** A simulated world with its operator not yet started; whoever makes one ends it. */
export async function createStory(options: StoryOptions): Promise<Story> {
  const { from } = options;
  const time = createVirtualTime(from?.at);
  // Keys and UIDs that a story goes on from were drawn from the same numbers: what is made now is none of them.
  const random = (n: number): RandomSource => createSeededRandom(from === undefined ? n : n + 1_000);
  const ports = { clock: time.clock, timers: time.timers };
  const keys = createValueKeys(random(1));
  const installed = options.crds ?? crds;
  const store = copiedStore(from === undefined ? await storedCrds(installed) : from.objects);
  const api = await createApiServer({ store, ...ports, random: random(2) });
  const truth = api.transport({ name: "story", groups: ["system:masters"] });
  const client = createKubeClient(truth);
  const kube = api.transport(operatorAccount);
  await grantPermissions(client, "default", [hostRules], options.permissions);
  const effects: string[] = [];
  const sent: string[] = [];
  const writes: string[] = [];
  const accesses = new Map<string, Access>();
  const workloadWrites: string[] = [];
  const routes = new Map<string, string>();
  const isConnected = (address: string): boolean =>
    datacenter.machines().find((one) => one.address === address)?.state.isConnected !== false;
  const etcd = (key: string): EtcdDatabase | undefined => datacenter.etcdDatabase(key);
  const workloads = createDialledWorkloads(
    { ...ports, random: random(4), keys, isConnected, etcd, controllers: options.hasWorkloadControllers === true },
    new Map(Object.entries(from?.workloads ?? {}).map(([key, content]) => [key, copiedStore(content)])),
  );
  const datacenter = createDatacenter({
    ...ports,
    random: random(3),
    keys,
    machines: options.machines ?? Array.from({ length: 6 }, (_, index) => ({ address: `10.5.0.${index + 1}` })),
    timings: options.timings ?? instantTimings,
    workload: workloads.api,
    ...(from === undefined ? {} : { snapshot: from.datacenter }),
    onCall: (event: CallEvent) => {
      if (!event.mutating) return;
      const call = `${event.path.slice(event.path.lastIndexOf("/") + 1)} ${event.machine}`;
      if (event.phase === "received") sent.push(call);
      else if (event.code === 0) effects.push(call);
    },
  });
  if (from !== undefined) for (const crd of installed) await client.resource(crdType).create(crd);
  let running: { readonly stop: AbortController; readonly done: Promise<void>; readonly life: Life } | undefined;
  let starts = 0;
  const broken: string[] = [];
  const onInvariantBroken = (invariant: string, detail: string): void => {
    broken.push(`${invariant}: ${detail}`);
    throw new Error(`${invariant}: ${detail}`);
  };

  const get: Story["get"] = (type, name = "demo") => client.resource<Conditioned>(type).tryGet({ namespace: "default", name });
  const condition: Story["condition"] = async (type, wanted, name) => findCondition((await get(type, name))?.status?.conditions, wanted);
  const stop = async (): Promise<void> => {
    if (running === undefined) return;
    running.stop.abort();
    await time.advance(5_000);
    await running.done;
    running = undefined;
  };
  const until: Story["until"] = async (what, holds, seconds = 300) => {
    for (let step = 0; step < seconds * 5; step += 1) {
      if (await holds()) return;
      await time.advance(200);
    }
    const seen = await Promise.all([kinds.cluster, kinds.controlPlane].map((type) => get(type)));
    throw new Error(
      `not within ${seconds} s: ${what}\n${JSON.stringify(
        seen.map((object) => object?.status?.conditions),
        undefined,
        1,
      )}`,
    );
  };
  return {
    time,
    client,
    truth,
    datacenter,
    keys,
    effects,
    sent,
    writes,
    accesses,
    workloadWrites,
    workload() {
      const transport = workloads.transport();
      if (transport === undefined) throw new Error("no cluster has an API yet");
      return createKubeClient(transport);
    },
    reroute: (from, to) => void (to === undefined ? routes.delete(from) : routes.set(from, to)),
    async start() {
      await stop();
      starts += 1;
      const abort = new AbortController();
      const life = createLife(() => undefined);
      const clock = options.operatorClock?.(time.clock) ?? time.clock;
      const real = rerouted(datacenter.dialer(clock), routes);
      const dialer = options.dialer?.(real) ?? real;
      const own = recorded(
        counted(mortalKube(options.kube?.(kube) ?? kube, life), writes),
        (access) => void accesses.set(Object.values(access).join(" "), access),
      );
      const operator = createOperator({
        kube: own,
        talos: mortalTalos(dialer, life),
        ...waysToClusters(options, workloads, life, workloadWrites),
        ...(options.files === undefined ? {} : { files: options.files }),
        ...(options.metrics === undefined ? {} : { metrics: options.metrics }),
        ...(options.backups === undefined ? {} : { backups: options.backups(createKubeClient(own)) }),
        ...(options.addons === undefined ? {} : { addons: options.addons(createKubeClient(own)) }),
        names: { resolve: async (name) => options.names?.get(name) ?? [] },
        clock,
        timers: mortalTimers(time.timers, life),
        random: random(100 + starts),
        keys,
        log: options.log ?? silentLog,
        options: { leaderElection: false, identity: `story-${starts}`, onInvariantBroken, ...options.operator },
      });
      running = { stop: abort, done: operator.run(abort.signal), life };
      await time.settle();
    },
    stop,
    async kill() {
      running?.life.crash();
      running = undefined;
      await time.settle();
    },
    get,
    condition,
    until,
    untilReady: (seconds) => until("Ready", async () => (await condition(kinds.cluster, "Ready"))?.status === "True", seconds),
    async annotate(type, annotation, value) {
      const patch = { type: "merge", value: { metadata: { annotations: { [annotation]: value ?? null } } } } as const;
      await client.resource(type).patch({ namespace: "default", name: "demo" }, patch);
    },
    async end() {
      await stop();
      await datacenter.close();
      api.close();
      if (broken.length > 0) throw new Error(`passes would have broken invariants: ${broken.join("; ")}`);
    },
  };
}

/** What a process hears of a call, which it sends as long as it lives. */
async function heard<T>(life: Life, call: () => Promise<T>): Promise<T> {
  return life.maySend() ? life.deliver(await call()) : never();
}

/** The Kubernetes API as a process sees it that may be killed. */
function mortalKube(kube: KubeTransport, life: Life): KubeTransport {
  return {
    ...kube,
    send: (request, options) => heard(life, () => kube.send(request, options)),
    watch: (request, options) => heard(life, () => kube.watch(request, options)),
  };
}

/** The APIs of clusters as a process sees them that may be killed. */
function mortalWorkloads(real: WorkloadDialer, life: Life, writes: string[]): WorkloadDialer {
  return { dial: (target) => mortalKube(counted(real.dial(target), writes), life) };
}

/** How a process reaches the APIs and endpoints of clusters that may be killed. */
function waysToClusters(
  { workloads: other, endpoints: told, names }: StoryOptions,
  real: DialledWorkloads,
  life: Life,
  writes: string[],
): Pick<OperatorDependencies, "workloads" | "endpoints"> {
  const truth = real.endpoints((name) => names?.get(name));
  const probe = told?.(truth) ?? truth;
  return {
    workloads: mortalWorkloads(other?.(real.dialer) ?? real.dialer, life, writes),
    endpoints: { ask: (target, options) => heard(life, () => probe.ask(target, options)) },
  };
}

/** Machines as a process sees them that may be killed. */
function mortalTalos(real: TalosDialer, life: Life): TalosDialer {
  const dialer = withCalls(real, ({ channel }) => ({
    unary: (method, request, options) =>
      heard(life, () => channel.unary(method, request, diesWithItsCall(method.path) ? cutBy(options, life.over) : options)),
    upload: (method, requests, options) => heard(life, () => channel.upload(method, requests, options)),
  }));
  return {
    ...dialer,
    reaches: (target, timeoutMs) => heard(life, () => real.reaches(target, timeoutMs)),
    hold: (target, options) => heard(life, () => real.hold(target, options)),
  };
}

function counted(kube: KubeTransport, writes: string[]): KubeTransport {
  return {
    ...kube,
    send(request) {
      if (request.method !== "GET" && !request.path.includes("/leases")) writes.push(`${request.method} ${request.path}`);
      return kube.send(request);
    },
  };
}

const silentLog: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => silentLog };
