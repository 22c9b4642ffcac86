import { findCondition } from "@talos-operator/api";
import type { KubernetesCluster } from "@talos-operator/api";
import { createSeededRandom } from "@talos-operator/kube-runtime/testing";
import type { KubeObject, MetricsRegistry } from "@talos-operator/kube-runtime";
import { createMemoryFiles } from "@talos-operator/operator/testing";
import type { MemoryFiles } from "@talos-operator/operator/testing";
import type { MachineSpec } from "@talos-operator/simulator";
import { WORDS } from "../simulate/manifest.ts";
import { createProvidedMachines } from "../world/provided-machines.ts";
import type { ProvidedMachines } from "../world/provided-machines.ts";
import { kinds, tell } from "./story.ts";
import type { Conditioned, Story, StoryOptions } from "./story.ts";

/** A story whose machines are provided one by one. */
export interface CompositionStory extends Story {
  readonly provider: ProvidedMachines;
  readonly files: MemoryFiles;
  /** A KubernetesCluster, as it is now. */
  cluster(name?: string, namespace?: string): Promise<ClusterObject | undefined>;
  /** Names of Machines that are there, sorted; those that are being deleted end in `!`. */
  machineNames(): Promise<readonly string[]>;
  untilComposed(seconds?: number, name?: string): Promise<void>;
  scale(group: string, replicas: number, name?: string): Promise<void>;
}

export type ClusterObject = Conditioned & { readonly status?: KubernetesCluster["status"] };

/** Tells a story of KubernetesClusters with a provider that fulfils Machines from ten machines. */
export function tellComposition(
  options: StoryOptions & { readonly files?: MemoryFiles },
  story: (world: CompositionStory) => Promise<void>,
): Promise<void> {
  const { from } = options;
  const files = options.files ?? createMemoryFiles();
  for (const [path, text] of Object.entries(from?.files ?? {})) files.put(path, text);
  const machines: readonly MachineSpec[] =
    options.machines ?? Array.from({ length: 10 }, (_, index) => ({ address: `10.5.0.${index + 1}` }));
  return tell({ ...options, machines, files }, async (world) => {
    const { time, client, datacenter } = world;
    const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
    const provider = createProvidedMachines({
      client,
      datacenter,
      clock: time.clock,
      timers: time.timers,
      random: createSeededRandom(7),
      log,
      ...(from?.given === undefined ? {} : { given: new Map(Object.entries(from.given)) }),
    });
    const cluster: CompositionStory["cluster"] = (name = "demo", namespace = "default") =>
      client.resource<ClusterObject & KubeObject>(kinds.kubernetesCluster).tryGet({ namespace, name });
    try {
      await story({
        ...world,
        provider,
        files,
        cluster,
        async machineNames() {
          const { items } = await client.resource(kinds.vitistackMachine).list();
          return items.map(({ metadata }) => `${metadata?.name ?? ""}${metadata?.deletionTimestamp === undefined ? "" : "!"}`).toSorted();
        },
        untilComposed: (seconds, name) =>
          world.until(
            `KubernetesCluster ${name ?? "demo"} is Ready`,
            async () => conditionOf(await cluster(name), "Ready")?.status === "True",
            seconds,
          ),
        async scale(group, replicas, name = "demo") {
          const { spec } = (await cluster(name)) as unknown as KubernetesCluster;
          const value =
            group === "controlPlane"
              ? { spec: { controlPlane: { ...spec?.controlPlane, replicas } } }
              : { spec: { workers: (spec?.workers ?? []).map((one) => (one.name === group ? { ...one, replicas } : one)) } };
          await client.resource(kinds.kubernetesCluster).patch({ namespace: "default", name }, { type: "merge", value });
        },
      });
    } finally {
      const closed = provider.close();
      await time.advance(5_000);
      await closed;
    }
  });
}

/** A cluster of the flat shape. */
export function flatCluster(
  controlPlanes: number,
  workers: Readonly<Record<string, number>> = {},
  over: Record<string, unknown> = {},
  name = "demo",
  namespace = "default",
): KubeObject {
  return {
    apiVersion: "vitistack.io/v1alpha1",
    kind: "KubernetesCluster",
    metadata: { namespace, name },
    spec: {
      clusterName: name,
      kubernetesVersion: "v1.36.3",
      talosVersion: "v1.13.9",
      clusterEndpoint: "https://10.5.0.100:6443",
      controlPlane: { replicas: controlPlanes, machineTemplate: { spec: {} } },
      workers: Object.entries(workers).map(([group, replicas]) => ({ name: group, replicas, machineTemplate: { spec: {} } })),
      ...over,
    },
  } as KubeObject;
}

/** A cluster of the shape with data and topology: one control plane, one worker. */
export function nestedCluster(data: Readonly<Record<string, string>> = {}, name = "demo"): KubeObject {
  return {
    apiVersion: "vitistack.io/v1alpha1",
    kind: "KubernetesCluster",
    metadata: { namespace: "default", name },
    spec: {
      data: { ...WORDS, clusterId: "c-0001", provider: "talos", ...data },
      clusterEndpoint: "https://10.5.0.100:6443",
      topology: {
        version: "1.33",
        controlplane: { replicas: 1, version: "1.33" },
        workers: [{ name: "workers", replicas: 1, version: "1.33" }],
      },
    },
  } as KubeObject;
}

/** One condition of any object. */
export function conditionOf(object: Conditioned | undefined, type: string) {
  return findCondition(object?.status?.conditions, type);
}

/** Labels and values of one metric of the operator, `{phase="Running"} 1`, in the order in which they are served. */
export function seriesOf(metrics: MetricsRegistry, metric: string): readonly string[] {
  const name = `talos_operator_${metric}`;
  return metrics
    .text()
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`))
    .map((line) => line.slice(name.length));
}
