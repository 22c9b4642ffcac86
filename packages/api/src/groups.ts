/** Group of the published kinds: TalosCluster, TalosControlPlane, TalosWorker, TalosMachine, TalosEtcdBackup, TalosEtcdBackupSchedule, TalosClusterAddon, TalosClusterAddonRelease. */
export const TALOS_GROUP = "talos.alperen.cloud";

/** Group of the kinds that are ours alone: ClusterRecord. Annotations and finalizers of ours carry it too. */
export const OPERATOR_GROUP = "talos-operator.dev";

/** Group of the kinds that describe a cluster by its topology and machines that any provider fulfils: KubernetesCluster, Machine, EtcdBackup. */
export const VITISTACK_GROUP = "vitistack.io";

/** The only version of each group. */
export const API_VERSION = "v1alpha1";
