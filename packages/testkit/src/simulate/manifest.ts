import { annotations } from "@talos-operator/api";
import {
  CLUSTER_NAME,
  ENDPOINT,
  firstDesired,
  firstReplicas,
  isComposed,
  NAMESPACE,
  WORKERS_NAME,
  WRITTEN_CONFIGS,
  type Desired,
  type Replicas,
  type Scenario,
} from "./scenario.ts";

/** One object to apply, with the plural of its kind. */
export interface Applied {
  readonly plural: string;
  readonly name: string;
  readonly body: Record<string, unknown>;
}

/** The objects that a person would apply. */
export function manifestOf(scenario: Scenario, desired: Desired = firstDesired(scenario)): readonly Applied[] {
  if (isComposed(scenario)) return [composedManifest(scenario, desired.replicas ?? firstReplicas(scenario))];
  const machines = (addresses: readonly string[], machineSpec: object = {}): object => ({
    machines: addresses.map((address) => ({ address })),
    machineSpec: { installDisk: "/dev/sda", ...desired.machineSpec, ...machineSpec },
  });
  const { controlPlanePatches: configPatches } = desired;
  const ofControlPlanes = configPatches === undefined ? {} : { configPatches };
  const common = {
    version: desired.talosVersion ?? scenario.talosVersion,
    kubeVersion: scenario.kubeVersion,
    mode: "metal",
    // The default is left out, as people do.
    ...(scenario.deletionPolicy === "reset" ? {} : { deletionPolicy: scenario.deletionPolicy }),
  };
  const written = (key: string): object => (desired.hasWrittenConfigs ? { configRef: { name: WRITTEN_CONFIGS, key } } : {});
  const controlPlane = {
    ...common,
    ...written("controlplane"),
    endpoint: ENDPOINT,
    metalSpec: machines(desired.controlPlanes, ofControlPlanes),
  };
  const worker = { ...common, ...written("worker"), metalSpec: machines(desired.workers) };
  const hasWorkers = desired.workers.length > 0;
  const object = (plural: string, kind: string, name: string, spec: object): Applied => ({
    plural,
    name,
    body: {
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind,
      metadata: {
        name,
        namespace: NAMESPACE,
        // Always there: whoever takes the one annotation out takes nobody else's along.
        annotations: desired.mode === undefined ? {} : { [annotations.reconcileMode]: desired.mode },
      },
      spec,
    },
  });
  if (scenario.shape === "cluster")
    return [object("talosclusters", "TalosCluster", CLUSTER_NAME, { controlPlane, ...(hasWorkers ? { worker } : {}) })];
  return [
    object("taloscontrolplanes", "TalosControlPlane", CLUSTER_NAME, controlPlane),
    ...(hasWorkers ? [object("talosworkers", "TalosWorker", WORKERS_NAME, { ...worker, controlPlaneRef: { name: CLUSTER_NAME } })] : []),
  ];
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
