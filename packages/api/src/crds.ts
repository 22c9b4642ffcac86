import { customResourceDefinition } from "./schema/crd.ts";
import { withDefaults } from "./schema/with-defaults.ts";
import type { CustomResourceDefinition, KindDefinition } from "./schema/crd.ts";
import { clusterRecordKind } from "./kinds/cluster-record.ts";
import { talosClusterAddonKind } from "./kinds/talos-cluster-addon.ts";
import { talosClusterAddonReleaseKind } from "./kinds/talos-cluster-addon-release.ts";
import { talosClusterKind } from "./kinds/talos-cluster.ts";
import { talosControlPlaneKind } from "./kinds/talos-control-plane.ts";
import { talosEtcdBackupKind } from "./kinds/talos-etcd-backup.ts";
import { talosEtcdBackupScheduleKind } from "./kinds/talos-etcd-backup-schedule.ts";
import { talosMachineKind } from "./kinds/talos-machine.ts";
import { talosWorkerKind } from "./kinds/talos-worker.ts";
import { etcdBackupKind } from "./vitistack/etcd-backup.ts";
import { kubernetesClusterKind } from "./vitistack/kubernetes-cluster.ts";
import { vitistackMachineKind } from "./vitistack/machine.ts";
import { machineClassKind } from "./vitistack/machine-class.ts";
import { networkConfigurationKind } from "./vitistack/network-configuration.ts";
import { networkNamespaceKind } from "./vitistack/network-namespace.ts";
import { controlPlaneVirtualSharedIPKind } from "./vitistack/shared-address.ts";

/** Every kind with a controller, in the order in which documentation presents them. */
export const kinds: readonly KindDefinition[] = [
  talosClusterKind,
  talosControlPlaneKind,
  talosWorkerKind,
  talosMachineKind,
  talosEtcdBackupKind,
  talosEtcdBackupScheduleKind,
  talosClusterAddonKind,
  talosClusterAddonReleaseKind,
  kubernetesClusterKind,
  vitistackMachineKind,
  etcdBackupKind,
  clusterRecordKind,
];

/** The CustomResourceDefinitions to install, one for each kind. The same that `config/crd/` holds as YAML. */
export const crds: readonly CustomResourceDefinition[] = kinds.map(customResourceDefinition);

/** An object of a manifest with the spec that an API server would store. Of a kind that is none of ours it stays as it is. */
export function withSpecDefaults<T extends { readonly kind: string; readonly spec?: unknown }>(object: T): T {
  const kind = kinds.find(({ resource }) => resource.kind === object.kind);
  return kind === undefined || object.spec === undefined ? object : { ...object, spec: withDefaults(kind.spec.schema, object.spec) };
}

/** Kinds that other operators own and this one reads, or asks something of: a cluster does without each of them where it is not served. */
export const companionKinds: readonly KindDefinition[] = [
  machineClassKind,
  networkNamespaceKind,
  networkConfigurationKind,
  controlPlaneVirtualSharedIPKind,
];

/**
 * The CustomResourceDefinitions of the {@link companionKinds}, as their owner publishes them. Not part of an installation: whoever runs an
 * operator for them has installed them. For tests, and for trying things out.
 */
export const companionCrds: readonly CustomResourceDefinition[] = companionKinds.map(customResourceDefinition);
