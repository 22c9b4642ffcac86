import { activeFacts, isControlPlane, nodenameOf } from "../node/identity.ts";
import { isForeignLabel } from "../node/kube-refusals.ts";
import type { Machine } from "../node/machine.ts";
import { isAtLeast } from "../node/version.ts";

/** What the simulator itself reads of a Node; the rest is for whoever asks the API. */
export interface NodeObject {
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly status: Record<string, unknown>;
}

/** A Kubernetes Node as the kubelet of this machine registers it. */
export function nodeObjectOf(machine: Machine, now: number): NodeObject & Record<string, unknown> {
  const facts = activeFacts(machine);
  const name = nodenameOf(machine);
  const isControl = isControlPlane(machine);
  const isRefused = !isControl && isRefusedToKubelets(machine);
  const nodeLabels = isRefused ? {} : facts?.nodeLabels;
  const taints: Record<string, string> = isRefused ? {} : { ...facts?.nodeTaints };
  if (isControl && facts?.allowsSchedulingOnControlPlane === false) taints["node-role.kubernetes.io/control-plane"] = "NoSchedule";
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        ...nodeLabels,
        ...(isControl ? { "node-role.kubernetes.io/control-plane": "" } : {}),
      },
      annotations: { "talos.dev/owned-labels": JSON.stringify(Object.keys(nodeLabels ?? {}).toSorted()) },
    },
    spec: {
      podCIDR: "",
      taints: Object.entries(taints).map(([key, value]) => taintOf(key, value)),
    },
    status: nodeStatusOf(machine, "False", now),
  };
}

/**
 * A worker writes its labels and taints as its kubelet, in one request that NodeRestriction refuses as a whole. From Talos 1.14 on the kubelet registers with the
 * taints, which is allowed.
 *
 * @see kubernetes `plugin/pkg/admission/noderestriction`; siderolabs/talos `internal/app/machined/pkg/controllers/k8s/node_apply.go`
 */
function isRefusedToKubelets(machine: Machine): boolean {
  const { nodeLabels = {}, nodeTaints = {} } = activeFacts(machine) ?? {};
  const hasLateTaints = Object.keys(nodeTaints).length > 0 && !isAtLeast(machine.hardware.talosVersion, "1.14");
  return (
    hasLateTaints ||
    Object.keys(nodeLabels).some((label) => isForeignLabel(label) || /(^|\.)node-restriction\.kubernetes\.io\//.test(label))
  );
}

/** Status with the Ready condition at `ready`. */
export function nodeStatusOf(machine: Machine, ready: "True" | "False" | "Unknown", now: number): Record<string, unknown> {
  const facts = activeFacts(machine);
  const at = new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
  const { hardware } = machine;
  const condition = (type: string, status: string, reason: string, message: string): Record<string, string> => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: at,
    lastTransitionTime: at,
  });
  const readyReason = { True: "KubeletReady", False: "KubeletNotReady", Unknown: "NodeStatusUnknown" }[ready];
  const readyMessage = {
    True: "kubelet is posting ready status",
    False:
      "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized",
    Unknown: "Kubelet stopped posting node status.",
  }[ready];
  return {
    addresses: [
      { type: "InternalIP", address: hardware.address },
      { type: "Hostname", address: nodenameOf(machine) },
    ],
    capacity: { cpu: String(hardware.cpuCores), memory: `${hardware.memoryMib * 1024}Ki`, pods: "110" },
    allocatable: { cpu: String(hardware.cpuCores), memory: `${hardware.memoryMib * 1024}Ki`, pods: "110" },
    conditions: [
      condition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
      condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
      condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
      condition("Ready", ready, readyReason, readyMessage),
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      architecture: "amd64",
      bootID: machine.bootId,
      containerRuntimeVersion: "containerd://2.1.4",
      kernelVersion: "6.18.5-talos",
      kubeProxyVersion: "",
      kubeletVersion: facts?.kubernetesVersion ?? "",
      machineID: hardware.uuid.replaceAll("-", ""),
      operatingSystem: "linux",
      osImage: `Talos (${hardware.talosVersion})`,
      systemUUID: hardware.uuid,
    },
  };
}

function taintOf(key: string, value: string): Record<string, string> {
  const [text = "", effect] = value.includes(":") ? value.split(":") : ["", value];
  return { key, effect: effect ?? "NoSchedule", ...(text === "" ? {} : { value: text }) };
}
