import { defineKind } from "./define-kind.ts";
import type { ResourceKind } from "./resource.ts";

/** What a component of the control plane is to run with. */
export interface ComponentConfigSpec {
  readonly image: string;
}

/** What etcd is to run with on this machine. */
export interface EtcdSpecSpec {
  readonly name: string;
  readonly image: string;
  readonly advertisedAddresses: readonly string[];
  /** Arguments that the configuration adds, by name without dashes. What they were when etcd started counts: Talos does not restart it for others. */
  readonly extraArguments: Readonly<Record<string, readonly string[]>>;
}

/** Parts of the cluster as a machine runs them. */
export const componentKinds = {
  /** The cluster as discovery knows it. */
  clusterInfo: defineKind<{ readonly clusterId: string; readonly clusterName: string }>(
    "Infos.cluster.talos.dev",
    "cluster",
    "current",
    (spec) => ({ clusterId: spec.text("clusterId"), clusterName: spec.text("clusterName") }),
  ),
  /** The machine's identity in discovery; another one after its STATE was wiped. */
  clusterIdentity: defineKind<{ readonly nodeId: string }>("Identities.cluster.talos.dev", "cluster", "local", (spec) => ({
    nodeId: spec.text("nodeId"),
  })),
  /** How etcd is started here; absent while the machine has no address for it. */
  etcdSpec: defineKind<EtcdSpecSpec>("EtcdSpecs.etcd.talos.dev", "etcd", "etcd", (spec) => ({
    name: spec.text("name"),
    image: spec.text("image"),
    advertisedAddresses: spec.texts("advertisedAddresses"),
    extraArguments: spec.argumentMap("extraArgs"),
  })),
  /** Sensitive from Talos 1.12: `os:admin` only. Its resource version is what pods carry as `talos.dev/config-version`. */
  apiServerConfig: component("APIServerConfigs.kubernetes.talos.dev", "kube-apiserver"),
  controllerManagerConfig: component("ControllerManagerConfigs.kubernetes.talos.dev", "kube-controller-manager"),
  schedulerConfig: component("SchedulerConfigs.kubernetes.talos.dev", "kube-scheduler"),
  /** Sensitive from Talos 1.12: `os:admin` only. */
  kubeletSpec: defineKind<{ readonly image: string; readonly expectedNodeName: string }>(
    "KubeletSpecs.kubernetes.talos.dev",
    "k8s",
    "kubelet",
    (spec) => ({ image: spec.text("image"), expectedNodeName: spec.text("expectedNodename") }),
  ),
  /** The kubelet that runs (Talos 1.14). */
  kubeletStatus: defineKind<{ readonly image: string }>("KubeletStatuses.kubernetes.talos.dev", "k8s", "kubelet", (spec) => ({
    image: spec.text("image"),
  })),
  /** Whether the static pods' files are written. */
  staticPodConfigStatus: defineKind<{ readonly isReady: boolean; readonly version: string }>(
    "ConfigStatuses.kubernetes.talos.dev",
    "controlplane",
    "static-pods",
    (spec) => ({ isReady: spec.flag("ready"), version: spec.text("version") }),
  ),
  /** Bootstrap manifests that were applied. */
  manifestStatus: defineKind<{ readonly applied: readonly string[] }>(
    "ManifestStatuses.kubernetes.talos.dev",
    "controlplane",
    "manifests",
    (spec) => ({ applied: spec.texts("manifestsApplied") }),
  ),
} as const;

function component(type: string, id: string): ResourceKind<ComponentConfigSpec> {
  return defineKind<ComponentConfigSpec>(type, "controlplane", id, (spec) => ({ image: spec.text("image") }));
}
