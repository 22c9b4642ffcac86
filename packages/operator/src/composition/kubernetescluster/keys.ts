/** Labels of a Machine: those of the documented operator, and those that existing tools select by. */
export const machineLabels = {
  cluster: "cluster.vitistack.io/cluster-name",
  /** `controlplane` or `worker`. */
  role: "cluster.vitistack.io/role",
  /** Name of the group, on workers. */
  workerGroup: "cluster.vitistack.io/worker-group",
  /** `clusterId`, where it can be a label. */
  clusterId: "vitistack.io/clusterid",
  /** `control-plane` or `worker`. */
  nodeRole: "vitistack.io/node-role",
} as const;

/** Annotations of a Machine. */
export const machineAnnotations = {
  /** Name of the group, for existing tools. */
  nodePool: "vitistack.io/nodepool",
  /** The address that the machine is called by: chosen among those that its provider reports, and kept while it is one of them. */
  nodeAddress: "cluster.vitistack.io/node-address",
  /** `true` once Talos runs from the machine's own disk, so that its provider can take the boot medium away. */
  osInstalled: "vitistack.io/os-installed",
} as const;

/** Annotations of a KubernetesCluster that a person sets. */
export const clusterAnnotations = {
  /** `"true"`: the files are written, and no Machine is made or changed. */
  pauseAfterFiles: "talos-operator.dev/pause-after-files",
  /** Any value pauses the cluster, as in the operator that made these kinds. */
  doNotReconcile: "upgrade.vitistack.io/do-not-reconcile",
} as const;

/** Annotations that this operator puts on the pools that it composes. */
export const poolAnnotations = {
  /** The contract that the patches of the pool are written for, for example `1.13`: that of the machines it was made with. */
  patchesFor: "talos-operator.dev/patches-for",
  /** On the control plane: JSON of the versions that its cluster was read to ask for, where the spec leaves a patch out, or a version. An edit alone moves them. */
  readVersions: "talos-operator.dev/read-versions",
} as const;

/** Finalizers. */
export const compositionFinalizers = {
  cluster: "cluster.vitistack.io/finalizer",
  /** Of the operator that made these kinds: taken over, and removed with ours. */
  clusterOfOthers: "kubernetescluster.vitistack.io/finalizer",
  /** Keeps a Machine until the cluster has released it: drained, out of etcd and wiped. */
  machineInUse: "cluster.vitistack.io/machine-in-use",
} as const;

/** Where a reference finds the address of a Machine. */
export const NODE_ADDRESS_PATH = `.metadata.annotations['${machineAnnotations.nodeAddress}']`;

/** True for what an API server takes as the value of a label. */
export function isLabelValue(text: string): boolean {
  return text.length <= 63 && /^([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?$/.test(text);
}
