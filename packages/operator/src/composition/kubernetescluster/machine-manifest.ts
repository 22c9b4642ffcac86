import type { ClusterGroup, ClusterModel, KubernetesCluster, VitistackMachine } from "@talos-operator/api";
import {
  CONTROL_PLANE_GROUP,
  apiVersionOf,
  controllerReference,
  kubernetesClusterResource,
  labelValueFor,
  vitistackMachineResource,
} from "@talos-operator/api";
import { compositionFinalizers, isLabelValue, machineAnnotations, machineLabels } from "./keys.ts";

/** The Machine `name` of a group as it should be: the fields that this operator sets, and no others. */
export function machineManifest(cluster: KubernetesCluster, model: ClusterModel, group: ClusterGroup, name: string): VitistackMachine {
  const owner = { apiVersion: apiVersionOf(kubernetesClusterResource), kind: cluster.kind, metadata: cluster.metadata };
  const isControlPlane = group.role === "controlplane";
  return {
    apiVersion: "vitistack.io/v1alpha1",
    kind: vitistackMachineResource.kind,
    metadata: {
      namespace: cluster.metadata.namespace ?? "",
      name,
      labels: {
        ...group.labels,
        [machineLabels.cluster]: labelValueFor(model.name),
        [machineLabels.role]: group.role,
        ...(isControlPlane ? {} : { [machineLabels.workerGroup]: labelValueFor(group.name) }),
        ...(isLabelValue(model.clusterId) ? { [machineLabels.clusterId]: model.clusterId } : {}),
        [machineLabels.nodeRole]: isControlPlane ? "control-plane" : "worker",
      },
      ...annotated({ ...group.annotations, ...(isControlPlane ? {} : { [machineAnnotations.nodePool]: group.name }) }),
      finalizers: [compositionFinalizers.machineInUse],
      ownerReferences: [controllerReference(owner)],
    },
    spec: {
      ...group.machineSpec,
      talosConfig: {
        machineType: group.role,
        ...(model.endpoint.mode === "given" ? { clusterEndpoint: model.endpoint.url } : {}),
        ...(model.install.isDefaultDisk ? {} : { installDisk: model.install.disk }),
        cluster: { network: { dnsDomain: model.dnsDomain, podSubnets: model.podSubnets, serviceSubnets: model.serviceSubnets } },
      },
    },
  };
}

/** The group that a Machine belongs to, as its labels or those of other operators say; `undefined` when none does. */
export function groupOfMachine({
  metadata,
}: VitistackMachine): { readonly role: "controlplane" | "worker"; readonly name: string } | undefined {
  const { labels = {}, annotations = {} } = metadata;
  const role =
    labels[machineLabels.role] ?? (labels[machineLabels.nodeRole] === "control-plane" ? "controlplane" : labels[machineLabels.nodeRole]);
  if (role === "controlplane") return { role, name: CONTROL_PLANE_GROUP };
  const name = annotations[machineAnnotations.nodePool] ?? labels[machineLabels.workerGroup];
  return role === "worker" && name !== undefined ? { role, name } : undefined;
}

function annotated(annotations: Readonly<Record<string, string>>): { readonly annotations?: Readonly<Record<string, string>> } {
  return Object.keys(annotations).length === 0 ? {} : { annotations };
}
