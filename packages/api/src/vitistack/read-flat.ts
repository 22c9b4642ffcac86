import type { Draft, DraftGroup } from "./cluster-draft.ts";
import type { KubernetesClusterSpec } from "./kubernetes-cluster.ts";
import type { MachineTemplateSpec } from "./machine-spec.ts";

/** Reads the shape with clusterName, controlPlane and workers. */
export function readFlat(spec: KubernetesClusterSpec): Draft {
  const controlPlane = spec.controlPlane;
  const clusterName = { field: "spec.clusterName", value: spec.clusterName ?? "" };
  const networkNamespace = controlPlane?.machineTemplate?.spec?.network?.networkNamespaceName;
  return {
    shape: "flat",
    name: clusterName,
    clusterId: clusterName,
    ...(spec.kubernetesVersion !== undefined && { kubernetesVersion: { field: "spec.kubernetesVersion", value: spec.kubernetesVersion } }),
    ...(networkNamespace !== undefined && { networkNamespace }),
    inventory: {},
    groups: [
      group("controlplane", "spec.controlPlane", controlPlane?.replicas ?? 0, controlPlane?.machineTemplate),
      ...(spec.workers ?? []).map(({ name, replicas, machineTemplate }, index) => ({
        ...group("worker", `spec.workers[${index}]`, replicas, machineTemplate),
        name: { field: `spec.workers[${index}].name`, value: name },
      })),
    ],
  };
}

function group(
  role: DraftGroup["role"],
  field: string,
  replicas: number,
  template: { readonly spec?: MachineTemplateSpec | null } | undefined,
): DraftGroup {
  return {
    role,
    replicas: { field: `${field}.replicas`, value: replicas },
    field: `${field}.machineTemplate.spec`,
    // Stored as null where somebody wrote only a comment below it.
    machineSpec: template?.spec ?? {},
    labels: {},
    annotations: {},
    taints: [],
  };
}
