import { fromBinary } from "@bufbuild/protobuf";

import { MachineConfigSpecSchema } from "../gen/resource/config/config_pb.ts";
import { componentKinds } from "./component-kinds.ts";
import { ConfigText } from "./config-text.ts";
import { defineKind } from "./define-kind.ts";
import { networkKinds } from "./network-kinds.ts";
import { SpecFault } from "./resource.ts";
import type { EncodedSpec, ResourceKind } from "./resource.ts";
import { runtimeKinds } from "./runtime-kinds.ts";
import { parseSpecYaml } from "./spec-reader.ts";
import { storageKinds } from "./storage-kinds.ts";

/** A kind that this package gives no type to: the spec is whatever the YAML says. */
export function untypedKind(type: string, namespace: string, id?: string): ResourceKind<unknown> {
  return { type, namespace, ...(id === undefined ? {} : { id }), parse: (spec) => parseSpecYaml(spec.yaml) };
}

/** Stage of the machine; `unknown` stands for what a newer Talos may add, and for an empty one. */
export type MachineStage =
  "booting" | "installing" | "maintenance" | "running" | "rebooting" | "shutting down" | "resetting" | "upgrading" | "unknown";

const STAGES = new Set<string>(["booting", "installing", "maintenance", "running", "rebooting", "shutting down", "resetting", "upgrading"]);

/** How far the machine is, and what it waits for. */
export interface MachineStatusSpec {
  readonly stage: MachineStage;
  readonly isReady: boolean;
  /** What keeps it from being ready: `time`, `network`, `services`, `staticPods`, `nodeReady`. */
  readonly unmetConditions: readonly { readonly name: string; readonly reason: string }[];
}

/** Stage and readiness of the machine. */
const machineStatus = defineKind<MachineStatusSpec>("MachineStatuses.runtime.talos.dev", "runtime", "machine", (spec) => {
  const stage = spec.text("stage");
  const status = spec.child("status");
  return {
    stage: STAGES.has(stage) ? (stage as MachineStage) : "unknown",
    isReady: status.flag("ready"),
    unmetConditions: status
      .children("unmetConditions")
      .map((condition) => ({ name: condition.text("name"), reason: condition.text("reason") })),
  };
});

/** Role in the cluster; `unknown` until a config is there. `init` is a control plane of old configs. */
export type MachineTypeSpec = "controlplane" | "worker" | "init" | "unknown";

/** Role of the machine. */
const machineType: ResourceKind<MachineTypeSpec> = {
  type: "MachineTypes.config.talos.dev",
  namespace: "config",
  id: "machine-type",
  parse: (spec) => {
    const value = parseSpecYaml(spec.yaml);
    return value === "controlplane" || value === "worker" || value === "init" ? value : "unknown";
  },
};

/**
 * The active machine config. Sensitive: `os:admin` only.
 *
 * Id `v1alpha1` is what is active, `persistent` (Talos 1.10) what is on disk: ahead after a staged apply, behind during a try.
 */
const machineConfig: ResourceKind<ConfigText> = {
  type: "MachineConfigs.config.talos.dev",
  namespace: "config",
  id: "v1alpha1",
  parse: (spec) => new ConfigText(machineConfigText(spec)),
};

/** The text stands in the same field of `proto_spec` in all versions; `yaml_spec` is the bare text up to 1.11 and a YAML string from 1.12. */
function machineConfigText(spec: EncodedSpec): string {
  if (spec.proto.length > 0) {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(fromBinary(MachineConfigSpecSchema, spec.proto).yamlMarshalled);
    } catch {
      throw new SpecFault("spec is not a machine config");
    }
  }
  if (!/^\s*["'|>]/.test(spec.yaml)) return spec.yaml;
  const value = parseSpecYaml(spec.yaml);
  if (typeof value !== "string") throw new SpecFault("spec is not a machine config");
  return value;
}

/** The release that runs. */
export interface VersionSpec {
  readonly name: string;
  /** `v1.13.9` */
  readonly version: string;
}

/** Talos version of the machine (Talos 1.10). */
const talosVersion = defineKind<VersionSpec>("Versions.runtime.talos.dev", "runtime", "version", (spec) => ({
  name: spec.text("name"),
  version: spec.text("version"),
}));

/** A service that runs. */
export interface ServiceSpec {
  readonly isRunning: boolean;
  /** `undefined` when the service has no health check or has not been checked yet. */
  readonly isHealthy: boolean | undefined;
}

/** Services that run; one that does not run has no resource. */
const service = defineKind<ServiceSpec>("Services.v1alpha1.talos.dev", "runtime", undefined, (spec) => ({
  isRunning: spec.flag("running"),
  isHealthy: spec.flag("unknown") ? undefined : spec.flag("healthy"),
}));

/** Id of the local etcd member, 16 hex digits. Absent while etcd does not run. */
const etcdMember = defineKind<{ readonly memberId: string }>("EtcdMembers.etcd.talos.dev", "etcd", "local", (spec) => ({
  memberId: spec.text("memberID"),
}));

/** A machine of the cluster, as discovery knows it. */
export interface MemberSpec {
  readonly nodeId: string;
  readonly addresses: readonly string[];
  readonly hostname: string;
  readonly machineType: string;
  /** `Talos (v1.13.9)` */
  readonly operatingSystem: string;
  /** Only control planes have one. */
  readonly apiServerPort: number | undefined;
}

/** Machines of the cluster as this machine has discovered them. */
const member = defineKind<MemberSpec>("Members.cluster.talos.dev", "cluster", undefined, (spec) => {
  const port = spec.child("controlPlane").number("port");
  return {
    nodeId: spec.text("nodeId"),
    addresses: spec.texts("addresses"),
    hostname: spec.text("hostname"),
    machineType: spec.text("machineType"),
    operatingSystem: spec.text("operatingSystem"),
    apiServerPort: port === 0 ? undefined : port,
  };
});

/** The name of the machine in force. */
export interface HostnameStatusSpec {
  readonly hostname: string;
  /** Empty when none is set. */
  readonly domainname: string;
}

/** Hostname of the machine. */
const hostnameStatus = defineKind<HostnameStatusSpec>("HostnameStatuses.net.talos.dev", "network", "hostname", (spec) => ({
  hostname: spec.text("hostname"),
  domainname: spec.text("domainname"),
}));

/** Addresses with prefix length, `10.5.0.2/24`. Ids: `default`, `current`, `routed`, `accumulative`. */
const nodeAddress = defineKind<{ readonly addresses: readonly string[] }>("NodeAddresses.net.talos.dev", "network", undefined, (spec) => ({
  addresses: spec.texts("addresses"),
}));

/** A network link, as the kernel knows it. */
export interface LinkStatusSpec {
  /** `ether`, `loopback`, ... */
  readonly type: string;
  /** Empty for a physical link, else `bridge`, `bond`, `vlan`, `veth`, ... */
  readonly kind: string;
  /** MAC, lower case with colons; empty for a link without one. */
  readonly hardwareAddress: string;
  /** MAC burnt into the card; empty where unknown. */
  readonly permanentAddress: string;
  /** `up`, `down`, `unknown`, ... */
  readonly operationalState: string;
  readonly hasCarrier: boolean;
  readonly mtu: number;
  /** Bus path; only physical links have one. */
  readonly busPath: string;
}

/** Network links; the id is the link's name. */
const linkStatus = defineKind<LinkStatusSpec>("LinkStatuses.net.talos.dev", "network", undefined, (spec) => ({
  type: spec.text("type"),
  kind: spec.text("kind"),
  hardwareAddress: spec.text("hardwareAddr"),
  permanentAddress: spec.text("permanentAddr"),
  operationalState: spec.text("operationalState"),
  hasCarrier: spec.flag("linkState"),
  mtu: spec.number("mtu"),
  busPath: spec.text("busPath"),
}));

/** A disk, as the kernel knows it. */
export interface DiskSpec {
  /** `/dev/sda` */
  readonly devicePath: string;
  readonly sizeBytes: number;
  readonly model: string;
  readonly serial: string;
  readonly wwid: string;
  readonly uuid: string;
  readonly modalias: string;
  /** `/pci0000:00/...` */
  readonly busPath: string;
  /** `nvme`, `sata`, `virtio`, ... */
  readonly transport: string;
  readonly isRotational: boolean;
  readonly isReadonly: boolean;
  readonly isCdrom: boolean;
  readonly symlinks: readonly string[];
}

/** Disks (Talos 1.8); the id is the device name `sda`. None in container mode. */
const disk = defineKind<DiskSpec>("Disks.block.talos.dev", "runtime", undefined, (spec) => ({
  devicePath: spec.text("dev_path"),
  sizeBytes: spec.number("size"),
  model: spec.text("model"),
  serial: spec.text("serial"),
  wwid: spec.text("wwid"),
  uuid: spec.text("uuid"),
  modalias: spec.text("modalias"),
  busPath: spec.text("bus_path"),
  transport: spec.text("transport"),
  isRotational: spec.flag("rotational"),
  isReadonly: spec.flag("readonly"),
  isCdrom: spec.flag("cdrom"),
  symlinks: spec.texts("symlinks"),
}));

/** The disk that Talos is installed on (Talos 1.8); absent before the installation. */
const systemDisk = defineKind<{ readonly diskId: string; readonly devicePath: string }>(
  "SystemDisks.block.talos.dev",
  "runtime",
  "system-disk",
  (spec) => ({ diskId: spec.text("diskID"), devicePath: spec.text("devPath") }),
);

/** What the firmware says of the machine. */
export interface SystemInformationSpec {
  readonly manufacturer: string;
  readonly productName: string;
  readonly serialNumber: string;
  /** Hardware UUID, lower case; empty where the firmware gives none. Cloned machines may share it. */
  readonly uuid: string;
}

/** What the firmware says. Absent in container mode. */
const systemInformation = defineKind<SystemInformationSpec>(
  "SystemInformations.hardware.talos.dev",
  "hardware",
  "systeminformation",
  (spec) => ({
    manufacturer: spec.text("manufacturer"),
    productName: spec.text("productName"),
    serialNumber: spec.text("serialnumber"),
    uuid: spec.text("uuid").toLowerCase(),
  }),
);

/** The name under which the machine joins Kubernetes. */
export interface NodeNameSpec {
  readonly nodeName: string;
  readonly skipsRegistration: boolean;
}

/** Name of the Kubernetes node of this machine. */
const nodeName = defineKind<NodeNameSpec>("Nodenames.kubernetes.talos.dev", "k8s", "nodename", (spec) => ({
  nodeName: spec.text("nodename"),
  skipsRegistration: spec.flag("skipNodeRegistration"),
}));

/** What the machine sees of its own Kubernetes Node. */
export interface NodeStatusSpec {
  readonly isReady: boolean;
  readonly isUnschedulable: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The machine's own Kubernetes node as the machine sees it; the id is the node's name. */
const nodeStatus = defineKind<NodeStatusSpec>("NodeStatuses.kubernetes.talos.dev", "k8s", undefined, (spec) => ({
  isReady: spec.flag("nodeReady"),
  isUnschedulable: spec.flag("unschedulable"),
  labels: spec.textMap("labels"),
  annotations: spec.textMap("annotations"),
}));

/** A static pod, as the kubelet reports it. */
export interface StaticPodStatusSpec {
  readonly isReady: boolean;
  /** `Running`, `Pending`, ... */
  readonly podPhase: string;
}

/** Static pods of a control plane; the id is `kube-system/<pod>`. The spec is a Kubernetes pod status. */
const staticPodStatus = defineKind<StaticPodStatusSpec>("StaticPodStatuses.kubernetes.talos.dev", "k8s", undefined, (spec) => ({
  podPhase: spec.text("phase"),
  isReady: spec.children("conditions").some((condition) => condition.text("type") === "Ready" && condition.text("status") === "True"),
}));

/** A system extension of the running image. */
export interface ExtensionStatusSpec {
  /** `schematic` for the entry whose version is the schematic id. */
  readonly name: string;
  readonly version: string;
  readonly author: string;
}

/** System extensions of the running system; ids are numbers. */
const extensionStatus = defineKind<ExtensionStatusSpec>("ExtensionStatuses.runtime.talos.dev", "runtime", undefined, (spec) => {
  const metadata = spec.child("metadata");
  return { name: metadata.text("name"), version: metadata.text("version"), author: metadata.text("author") };
});

/** Whether the clock can be trusted. */
export interface TimeStatusSpec {
  readonly isSynced: boolean;
  readonly isSyncDisabled: boolean;
}

/** Whether the machine's clock is set. */
const timeStatus = defineKind<TimeStatusSpec>("TimeStatuses.v1alpha1.talos.dev", "runtime", "node", (spec) => ({
  isSynced: spec.flag("synced"),
  isSyncDisabled: spec.flag("syncDisabled"),
}));

/** All kinds with a type, under the name to use them by: `client.resources.get(resourceKinds.machineStatus)`. */
export const resourceKinds = {
  ...componentKinds,
  ...networkKinds,
  ...runtimeKinds,
  ...storageKinds,
  disk,
  etcdMember,
  extensionStatus,
  hostnameStatus,
  linkStatus,
  machineConfig,
  machineStatus,
  machineType,
  member,
  nodeAddress,
  nodeName,
  nodeStatus,
  service,
  staticPodStatus,
  systemDisk,
  systemInformation,
  talosVersion,
  timeStatus,
} as const;
