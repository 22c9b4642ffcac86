import type { KubeClient } from "@talos-operator/kube-runtime";
import { createMemoryFiles, type MemoryFiles } from "@talos-operator/operator/testing";
import type { Clock, RandomSource, Timers } from "@talos-operator/ports";
import type { Datacenter } from "@talos-operator/simulator";
import { createProvidedMachines, type ProvidedMachines } from "../world/provided-machines.ts";
import { pick } from "./fault.ts";
import type { Conditioned, ObjectView } from "./object-view.ts";
import { CLUSTER_NAME, NAMESPACE, type ProviderMood, type Replicas } from "./scenario.ts";
import type { Stage } from "./stage.ts";

const MINUTE = 60_000;

/** Most time that a slow provider takes for one machine. */
const SLOWEST_MS = 3 * MINUTE;

/** By then nobody counts on it any more. */
const LATE_MS = 15 * MINUTE;

const ROLE = "cluster.vitistack.io/role";
const GROUP = "cluster.vitistack.io/worker-group";

/** What stands beside the objects of a world whose cluster is a KubernetesCluster. */
export interface Composed {
  readonly provider: ProvidedMachines;
  readonly files: MemoryFiles;
  /** Tells the stage which addresses are wanted, now that replicas, Machines or their addresses are others. */
  follow(): void;
  /** Names of the Machines that are wanted, by what a person asked for and which of them somebody takes away. */
  readonly wantedNames: () => readonly string[];
  content(): ComposedContent;
  close(): void;
}

/** What is kept of it from one world to another. */
export interface ComposedContent {
  readonly given: ReadonlyMap<string, string>;
  readonly files: ReadonlyMap<string, string>;
}

export interface ComposedOptions {
  /** Past every fault. */
  readonly client: KubeClient;
  readonly objects: ObjectView;
  readonly datacenter: Datacenter;
  readonly stage: Stage;
  readonly mood: ProviderMood;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly from?: ComposedContent;
}

/** Starts the provider of a world, and follows which of its machines are wanted. */
export function createComposed({ client, objects, datacenter, stage, mood, from, ...ports }: ComposedOptions): Composed {
  const { random, timers } = ports;
  const files = createMemoryFiles();
  for (const [path, text] of from?.files ?? []) files.put(path, text);
  const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet };
  let mistaken: string | undefined;
  /** In the order in which it was written down. */
  const configured = new Set<string>();

  const provider = createProvidedMachines({
    client,
    datacenter,
    ...ports,
    log: quiet,
    ...(from === undefined ? {} : { given: from.given }),
    ...(mood === "slow" ? { delayMs: () => Math.floor(random.fraction() * SLOWEST_MS) } : {}),
    ...(mood === "moody" ? { delayMs: () => pick([0, random.fraction() * SLOWEST_MS, LATE_MS, Number.POSITIVE_INFINITY], random) } : {}),
    onChange: follow,
  });

  function wantedNames(): readonly string[] {
    const replicas = stage.desired?.replicas;
    if (replicas === undefined) return [];
    return groupsOf(replicas).flatMap(({ isIn, count }) =>
      objects
        .all("machines")
        .filter((machine) => machine.metadata?.deletionTimestamp === undefined && isIn(machine))
        .map(({ metadata }) => metadata?.name ?? "")
        .toSorted((a, b) => indexOf(a) - indexOf(b))
        .slice(0, count),
    );
  }

  function addresses(names: readonly string[]): readonly string[] {
    return [...new Set(names.flatMap((name) => provider.given.get(`${NAMESPACE}/${name}`) ?? []))];
  }

  /** Names of machines that were written down; those of a record that is lost stay known to whoever provided them, beside those of the one that is made anew. */
  function rememberConfigured(): void {
    const known = objects.get("clusterrecords", CLUSTER_NAME)?.spec as RecordSpec | undefined;
    for (const { name } of [...(known?.knownControlPlanes ?? []), ...(known?.knownWorkers ?? [])]) configured.add(name);
  }

  function follow(): void {
    rememberConfigured();
    const isControlPlane = (name: string): boolean => objects.get("machines", name)?.metadata?.labels?.[ROLE] === "controlplane";
    if (stage.desired?.replicas === undefined) {
      // A cluster that goes before it stood may still get the machines that it waits for: its workers are reached through them, and wiped.
      for (const [key, address] of provider.given) remember(address, isControlPlane(key.slice(NAMESPACE.length + 1)));
      return;
    }
    for (const [key, address] of provider.given) {
      const group = objects.get("machines", key.slice(NAMESPACE.length + 1))?.metadata?.labels?.[GROUP];
      if (group !== undefined) stage.pools.set(address, group);
    }
    const names = wantedNames();
    const controlPlanes = addresses(names.filter(isControlPlane));
    const workers = addresses(names.filter((name) => !isControlPlane(name)));
    stage.desired = { ...stage.desired, controlPlanes, workers };
    for (const address of controlPlanes) remember(address, true);
    for (const address of workers) remember(address, false);
    if (mood === "confused") confuse();
  }

  function remember(address: string, isControlPlane: boolean): void {
    if (isControlPlane) stage.everControlPlanes.add(address);
    if (!stage.everMachines.has(address)) stage.mayConfigure += 1;
    stage.everMachines.add(address);
  }

  /** The second machine that is asked for says that it has the address of the first. */
  function confuse(): void {
    const [first] = provider.given;
    const other = objects.all("machines").find(({ metadata }) => !provider.given.has(`${NAMESPACE}/${metadata?.name ?? ""}`));
    if (first === undefined || other === undefined || mistaken !== undefined) return;
    mistaken = `${NAMESPACE}/${other.metadata?.name ?? ""}`;
    provider.giveNext(other.metadata?.name ?? "", first[1]);
    timers.schedule(MINUTE + Math.floor(random.fraction() * MINUTE), () => void correct());
  }

  async function correct(): Promise<void> {
    const counts = new Map<string, string[]>();
    for (const [key, address] of provider.given) counts.set(address, [...(counts.get(address) ?? []), key]);
    const twins = [...counts.values()].find((keys) => keys.length > 1);
    if (twins === undefined) return;
    // Whoever was configured is what it says, and of two the first.
    const rank = (key: string): number => {
      const index = [...configured].findIndex((name) => name.endsWith(key.slice(NAMESPACE.length + 1)));
      return index < 0 ? Number.MAX_SAFE_INTEGER : index;
    };
    const [wrong = ""] = twins.toSorted((a, b) => rank(b) - rank(a));
    provider.correct(wrong);
    stage.wasMistaken = true;
    const name = wrong.slice(NAMESPACE.length + 1);
    const type = { group: "vitistack.io", version: "v1alpha1", plural: "machines", kind: "Machine", namespaced: true };
    const value = { metadata: { annotations: { "example.org/looked-at": String(ports.clock.now()) } } };
    await client.resource(type).patch({ namespace: NAMESPACE, name }, { type: "merge", value });
  }

  objects.onChange(follow);
  return {
    provider,
    files,
    follow,
    wantedNames,
    content: () => ({ given: new Map(provider.given), files: new Map(files.texts) }),
    close: () => void provider.close(),
  };
}

interface RecordSpec {
  readonly knownControlPlanes?: readonly { readonly name: string }[];
  readonly knownWorkers?: readonly { readonly name: string }[];
}

function groupsOf({
  controlPlanes,
  groups,
}: Replicas): readonly { readonly isIn: (machine: Conditioned) => boolean; readonly count: number }[] {
  return [
    { isIn: ({ metadata }) => metadata?.labels?.[ROLE] === "controlplane", count: controlPlanes },
    ...Object.entries(groups).map(([group, count]) => ({
      isIn: ({ metadata }: Conditioned) => metadata?.labels?.[ROLE] === "worker" && metadata.labels[GROUP] === group,
      count,
    })),
  ];
}

function indexOf(name: string): number {
  return Number(/(\d+)$/.exec(name)?.[1] ?? 0);
}
