import type { RandomSource } from "@talos-operator/ports";
import { pick } from "./fault.ts";
import { chooseScenario, CLUSTER_NAME, ENDPOINT, NAMESPACE, type Applied, type Scenario, type ScenarioChoices } from "./scenario.ts";

/**
 * How a provider fulfils Machines: at once, each after minutes, so that the second one says that it has the address of the first, or each as it comes: at
 * once, after minutes, after a quarter of an hour, or never.
 */
export type ProviderMood = "prompt" | "slow" | "confused" | "moody";

/** Machines that a KubernetesCluster asks for. */
export interface Replicas {
  readonly controlPlanes: number;
  /** Workers by the name of their group. */
  readonly groups: Readonly<Record<string, number>>;
}

/** What is drawn of a KubernetesCluster where a workload does not say. */
export interface ComposedChoices extends ScenarioChoices {
  readonly moods?: readonly ProviderMood[];
  readonly endpoints?: readonly ("given" | "none")[];
}

/** Draws a scenario whose cluster is a KubernetesCluster. */
export function chooseComposed(random: RandomSource, { moods, endpoints, ...choices }: ComposedChoices = {}): Scenario {
  return {
    ...chooseScenario(random, { workers: [0, 1, 2], ...choices }),
    shape: pick(["flat", "nested"], random),
    provider: pick(moods ?? ["prompt", "prompt", "slow"], random),
    // Providers give machines of their own; clones are told apart in other lives.
    uuids: "own",
    ...(endpoints === undefined ? {} : { endpoint: pick(endpoints, random) }),
  };
}

/** The cluster is a KubernetesCluster, and its machines are provided. */
export function isComposed({ shape }: Scenario): boolean {
  return shape === "flat" || shape === "nested";
}

/** What a KubernetesCluster asks for in the beginning. */
export function firstReplicas({ controlPlanes, workers }: Scenario): Replicas {
  return { controlPlanes, groups: workers === 0 ? {} : { a: workers } };
}

/** The KubernetesCluster that a person would apply; `name` is that of the object, the id is that of the cluster of the world. */
export function composedManifest(
  { shape, talosVersion, kubeVersion, endpoint }: Scenario,
  replicas: Replicas,
  name: string = CLUSTER_NAME,
): Applied {
  const groups = Object.entries(replicas.groups);
  const common = { talosVersion, ...(endpoint === "none" ? {} : { clusterEndpoint: ENDPOINT }) };
  const spec =
    shape === "flat"
      ? {
          ...common,
          clusterName: CLUSTER_NAME,
          kubernetesVersion: kubeVersion,
          controlPlane: { replicas: replicas.controlPlanes, machineTemplate: { spec: {} } },
          workers: groups.map(([group, count]) => ({ name: group, replicas: count, machineTemplate: { spec: {} } })),
        }
      : {
          ...common,
          data: { ...WORDS, clusterId: CLUSTER_NAME, provider: "talos" },
          topology: {
            version: kubeVersion,
            controlplane: { replicas: replicas.controlPlanes, version: kubeVersion },
            workers: groups.map(([group, count]) => ({ name: group, replicas: count, version: kubeVersion })),
          },
        };
  const metadata = { name, namespace: NAMESPACE };
  return { plural: "kubernetesclusters", name, body: { apiVersion: "vitistack.io/v1alpha1", kind: "KubernetesCluster", metadata, spec } };
}

/** What the inventory of a site wants to know. */
export const WORDS = {
  clusterUid: "5c2e",
  datacenter: "test-south-az1",
  environment: "dev",
  project: "p",
  region: "south",
  workorder: "w",
  workspace: "s",
  zone: "sør-1",
} as const;
