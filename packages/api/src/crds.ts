import { customResourceDefinition } from "./schema/crd.ts";
import type { CustomResourceDefinition, KindDefinition } from "./schema/crd.ts";
import { clusterRecordKind } from "./kinds/cluster-record.ts";
import { talosClusterKind } from "./kinds/talos-cluster.ts";
import { talosControlPlaneKind } from "./kinds/talos-control-plane.ts";
import { talosMachineKind } from "./kinds/talos-machine.ts";
import { talosWorkerKind } from "./kinds/talos-worker.ts";
import { kubernetesClusterKind } from "./vitistack/kubernetes-cluster.ts";
import { vitistackMachineKind } from "./vitistack/machine.ts";

/** Every kind with a controller, in the order in which documentation presents them. */
export const kinds: readonly KindDefinition[] = [
  talosClusterKind,
  talosControlPlaneKind,
  talosWorkerKind,
  talosMachineKind,
  kubernetesClusterKind,
  vitistackMachineKind,
  clusterRecordKind,
];

/** The CustomResourceDefinitions to install, one for each kind. The same that `config/crd/` holds as YAML. */
export const crds: readonly CustomResourceDefinition[] = kinds.map(customResourceDefinition);
