import type { ClusterDefaults, KubernetesCluster, KubernetesClusterSpec } from "../../index.ts";

/** What an operator with settings of its own knows. */
export const defaults: ClusterDefaults = {
  knownKubernetesVersions: ["1.32.4", "1.33.6", "1.36.3", "1.37.0-rc.0"],
  knownTalosVersions: ["v1.12.5", "v1.13.7"],
  talosVersion: "v1.13.7",
  kubernetesVersion: "1.36.3",
};

/** Everything that `data` demands. */
export const data = {
  clusterUid: "a30fbc8d-596f-48d0-8541-dbc23bca28a1",
  clusterId: "simple-cluster-id",
  provider: "talos",
  environment: "dev",
  datacenter: "trd1",
  project: "simple-project",
  region: "west-trondelag",
  workorder: "simple-workorder",
  zone: "Trøndelag",
  workspace: "simple-workspace",
} as const;

/** The flat shape with three control planes and two workers, changed where a case says so. */
export function flatCluster(spec: Partial<KubernetesClusterSpec> = {}, name = "simple-cluster"): KubernetesCluster {
  return {
    apiVersion: "vitistack.io/v1alpha1",
    kind: "KubernetesCluster",
    metadata: { name },
    spec: {
      clusterName: "simple-cluster",
      kubernetesVersion: "v1.28.3",
      talosVersion: "v1.5.5",
      clusterEndpoint: "https://192.168.1.100:6443",
      controlPlane: { replicas: 3, machineTemplate: { spec: {} } },
      workers: [{ name: "workers", replicas: 2, machineTemplate: { spec: {} } }],
      ...spec,
    },
  };
}

/** The shape with data and topology, one control plane and a list with one group of two workers, changed where a case says so. */
export function nestedCluster(
  topology: Partial<NonNullable<KubernetesClusterSpec["topology"]>> = {},
  spec: Partial<KubernetesClusterSpec> = {},
): KubernetesCluster {
  return {
    apiVersion: "vitistack.io/v1alpha1",
    kind: "KubernetesCluster",
    metadata: { name: "simple-cluster" },
    spec: {
      data,
      topology: {
        version: "1.33",
        controlplane: { replicas: 1, version: "1.33" },
        workers: [{ name: "worker-pool-1", replicas: 2, version: "1.33" }],
        ...topology,
      },
      ...spec,
    },
  };
}
