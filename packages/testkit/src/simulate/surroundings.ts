import { crds, type CustomResourceDefinition } from "@talos-operator/api";
import { createApiServer, type Store, type StoreContent } from "@talos-operator/apiserver";
import { createKubeClient, type KubeClient } from "@talos-operator/kube-runtime";
import { createSeededRandom, createVirtualTime, type VirtualTime } from "@talos-operator/kube-runtime/testing";
import type { Clock, Keys, KubeTransport, RandomSource } from "@talos-operator/ports";
import {
  createDatacenter,
  realisticTimings,
  type Datacenter,
  type DatacenterSnapshot,
  type EtcdDatabase,
  type Timings,
} from "@talos-operator/simulator";
import { copiedStore } from "../world/copied-store.ts";
import { createDialledWorkloads } from "../world/dialled-workloads.ts";
import { storedCrds } from "../world/stored-crds.ts";
import { createValueKeys } from "../world/value-keys.ts";
import type { ComposedContent } from "./composed.ts";
import type { ManagedClusters } from "./faulty-ports.ts";
import { addressesOf, sharedUuid, type Scenario } from "./scenario.ts";
import { LATER_FIELD } from "./troubles/input.ts";

/** A world whose cluster is Ready and idle, to begin others from. */
export interface PreparedWorld {
  readonly at: number;
  readonly objects: StoreContent;
  readonly workloads: ReadonlyMap<string, StoreContent>;
  readonly datacenter: DatacenterSnapshot;
  /** What was provided for a KubernetesCluster. */
  readonly composed?: ComposedContent;
}

/** What a cluster lives in: time, chance, the Kubernetes API, machines, and the APIs of managed clusters. No operator, and no fault. */
export interface Surroundings {
  readonly time: VirtualTime;
  readonly clock: Clock;
  /** Everybody's clock is ahead of virtual time by so much; timers go on as they are. */
  setClock(aheadMs: number): void;
  /** Independent streams: what one part draws does not shift what another part meets. */
  readonly stream: (n: number) => RandomSource;
  readonly keys: Keys;
  /** The Kubernetes API past every fault. */
  readonly truth: KubeTransport;
  readonly client: KubeClient;
  readonly datacenter: Datacenter;
  /** How much quicker its machines are than genuine ones. */
  readonly quicker: number;
  readonly managed: ManagedClusters;
  /** The API of the managed cluster, past the network; `undefined` before there is one. */
  readonly workload: () => KubeClient | undefined;
  content(): PreparedWorld;
  close(): void;
}

/** How much quicker quick machines boot, install and start. */
const QUICKER = 8;
const quickTimings: Timings = {
  ...(Object.fromEntries(Object.entries(realisticTimings).map(([name, ms]) => [name, Math.ceil(ms / QUICKER)])) as unknown as Timings),
  nodeLostMs: realisticTimings.nodeLostMs,
  // The network is the same: rounded up, its halves would take longer than the whole, and answers would come too late.
  callMs: realisticTimings.callMs,
};

/** The kinds of every world. */
const installed = crds.map(withLaterField);

/** The CRD that a newer release left behind: it knows a field more than this one. */
function withLaterField(crd: CustomResourceDefinition): CustomResourceDefinition {
  if (crd.spec.names.kind !== "ClusterRecord") return crd;
  const later = structuredClone(crd) as unknown as { spec: { versions: { schema: { openAPIV3Schema: JsonObject } }[] } };
  for (const { schema } of later.spec.versions) {
    const known = at(schema.openAPIV3Schema, "properties", "spec", "properties", "knownControlPlanes", "items", "properties");
    known[LATER_FIELD] = { type: "string", maxLength: 64 };
  }
  return later as unknown as CustomResourceDefinition;
}

type JsonObject = Record<string, unknown>;

function at(object: JsonObject, ...path: readonly string[]): JsonObject {
  return path.reduce((inner, name) => inner[name] as JsonObject, object);
}

/** @param from what an earlier world left; otherwise all is blank */
export async function createSurroundings(seed: number, scenario: Scenario, from: PreparedWorld | undefined): Promise<Surroundings> {
  const time = createVirtualTime(from?.at);
  const stream = (n: number): RandomSource => createSeededRandom((seed * 16 + n) >>> 0);
  const keys = createValueKeys(stream(1));
  let aheadMs = 0;
  const clock = { now: () => time.now() + aheadMs };
  const ports = { clock, timers: time.timers };
  const store = copiedStore(from?.objects ?? (await storedCrds(installed)));
  const api = await createApiServer({ store, ...ports, random: stream(2) });
  const truth = api.transport({ name: "system:simulation", groups: ["system:masters"] });
  const { controlPlanes, workers, spares } = addressesOf(scenario);
  const workloads = new Map<string, Store>([...(from?.workloads ?? [])].map(([key, content]) => [key, copiedStore(content)]));
  // Three of four worlds have quick machines: what waits for nothing but a boot shows nothing, and costs the most.
  const isQuick = Math.floor(seed / 2) % 4 !== 3;
  const isConnected = (address: string): boolean => isUp(datacenter, address);
  const etcd = (key: string): EtcdDatabase | undefined => datacenter.etcdDatabase(key);
  const dialled = createDialledWorkloads({ ...ports, random: stream(4), keys, isConnected, etcd }, workloads);
  const datacenter = createDatacenter({
    ...ports,
    random: stream(3),
    keys,
    machines: [...controlPlanes, ...workers, ...spares].map((address) => ({
      address,
      talosVersion: scenario.talosVersion,
      ...sharedUuid(scenario),
      ...(scenario.platform === undefined ? {} : { platform: scenario.platform }),
    })),
    timings: isQuick ? quickTimings : realisticTimings,
    workload: dialled.api,
    ...(from === undefined ? {} : { snapshot: from.datacenter }),
  });

  return {
    time,
    clock,
    setClock(ms) {
      aheadMs = ms;
    },
    stream,
    keys,
    truth,
    client: createKubeClient(truth),
    datacenter,
    quicker: isQuick ? QUICKER : 1,
    managed: { workloads: dialled.dialer, endpoints: dialled.endpoints(() => undefined) },
    workload() {
      const transport = dialled.transport();
      return transport === undefined ? undefined : createKubeClient(transport);
    },
    content: () => ({
      at: time.now(),
      objects: store.load(),
      workloads: new Map([...workloads].map(([key, one]) => [key, one.load()])),
      datacenter: datacenter.snapshot(),
    }),
    close() {
      void datacenter.close();
      api.close();
    },
  };
}

/** The machine at an address is on and on the network; whatever is no machine, as a virtual address, is there. */
function isUp(datacenter: Datacenter, address: string): boolean {
  const state = datacenter.machines().find((machine) => machine.address === address)?.state;
  return state === undefined || (state.power === "on" && state.isConnected);
}
