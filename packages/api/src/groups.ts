/** Group of the published kinds: TalosCluster, TalosControlPlane, TalosWorker, TalosMachine. */
export const TALOS_GROUP = "talos.alperen.cloud";

/** Group of the kinds that are ours alone: ClusterRecord. Annotations and finalizers of ours carry it too. */
export const OPERATOR_GROUP = "talos-operator.dev";

/** The only version of either group. */
export const API_VERSION = "v1alpha1";
