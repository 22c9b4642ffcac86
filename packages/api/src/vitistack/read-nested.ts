import { quote } from "../validation/host.ts";
import { inert, wrong } from "./cluster-draft.ts";
import type { Draft, DraftGroup, Notes } from "./cluster-draft.ts";
import type { NodeTaint } from "./cluster-model.ts";
import { MAX_DISK_GB, diskSizeGB } from "./disk-size.ts";
import type { ClusterData, KubernetesClusterSpec } from "./kubernetes-cluster.ts";
import type { MachineDisk, MachineTemplateSpec } from "./machine-spec.ts";
import { nodeMetadata } from "./node-metadata.ts";
import { groupFieldNames } from "./topology.ts";
import type { Topology, TopologyGroup } from "./topology.ts";

/** So many fields that there are not are told of one place. */
const UNKNOWN_TOLD = 5;

/** Reads the shape with data and topology. */
export function readNested(name: string, spec: KubernetesClusterSpec & { readonly topology: Topology }, notes: Notes): Draft {
  const { data, topology } = spec;
  const networkNamespace = data?.networkNamespaceName;
  const network = networkNamespace === undefined ? {} : { network: { networkNamespaceName: networkNamespace } };
  const control = topology.controlplane as TopologyGroup;
  return {
    shape: "nested",
    name: { field: "metadata.name", value: name },
    clusterId: { field: "spec.data.clusterId", value: data?.clusterId ?? "" },
    kubernetesVersion: { field: "spec.topology.version", value: topology.version },
    ...(networkNamespace !== undefined && { networkNamespace }),
    inventory: data === undefined ? {} : inventoryOf(data),
    groups: [
      group("controlplane", "spec.topology.controlplane", control, "large", network, notes),
      ...workersOf(topology, notes).map(({ field, group: one }) => ({
        ...group("worker", field, one, "medium", network, notes),
        name: { field: `${field}.name`, value: one.name },
      })),
    ],
  };
}

function workersOf({ workers }: Topology, notes: Notes): readonly { readonly field: string; readonly group: TopologyGroup }[] {
  // No schema types this field, and where it comes from a server without ours anything may stand here.
  const written: unknown = workers;
  const field = "spec.topology.workers";
  const groups = Array.isArray(written) ? written : (written as { readonly nodePools?: unknown } | null)?.nodePools;
  const path = Array.isArray(written) ? field : `${field}.nodePools`;
  if (!Array.isArray(groups)) {
    wrong(
      notes,
      field,
      "it is neither a list of groups nor an object with the list nodePools",
      "Write workers: [] for a cluster without workers",
    );
    return [];
  }
  if (!Array.isArray(written)) unknownFields(field, written as object, new Set(["nodePools"]), notes);
  return (groups as readonly unknown[]).flatMap((one, index) => {
    if (isGroup(one)) {
      unknownFields(`${path}[${index}]`, one, groupFieldNames, notes);
      return [{ field: `${path}[${index}]`, group: one }];
    }
    wrong(notes, `${path}[${index}]`, "it is no group with name and replicas", "Give it a name and a whole number of replicas");
    return [];
  });
}

/** The API server stores whatever stands in `workers`, so that what is misspelt there is said here. */
function unknownFields(field: string, written: object, known: ReadonlySet<string>, notes: Notes): void {
  const unknown = Object.keys(written).filter((name) => !known.has(name));
  for (const name of unknown.slice(0, UNKNOWN_TOLD))
    inert(notes, `${field}.${name.slice(0, 63)}`, `there is no such field: ${[...known].toSorted().join(", ")} are known`);
}

function isGroup(value: unknown): value is TopologyGroup {
  if (typeof value !== "object" || value === null) return false;
  const { name, replicas } = value as Partial<Record<string, unknown>>;
  return typeof name === "string" && typeof replicas === "number";
}

function group(
  role: DraftGroup["role"],
  field: string,
  written: TopologyGroup,
  fallbackClass: string,
  network: MachineTemplateSpec,
  notes: Notes,
): DraftGroup {
  const { replicas, version, machineClass, provider, architecture, storage = [], taint = [], metadata, autoscaling } = written;
  if (autoscaling?.enabled === true) inert(notes, `${field}.autoscaling`, "groups have the size that replicas says");
  const disks = storage.flatMap(({ class: type, size, path }, index): MachineDisk[] => {
    const at = `${field}.storage[${index}]`;
    if (path !== "") inert(notes, `${at}.path`, "a Machine has no place for a mount path");
    const sizeGB = diskSizeGB(size);
    if (sizeGB === undefined)
      wrong(notes, `${at}.size`, `${quote(size)} is no size up to ${MAX_DISK_GB}Gi`, "Write a quantity such as 20Gi");
    return [{ name: `disk-${index}`, boot: index === 0, sizeGB: sizeGB ?? 1, ...(type !== "" && { type }) }];
  });
  return {
    role,
    replicas: { field: `${field}.replicas`, value: replicas },
    // The inventory's form demands the field, so an empty one is how people leave it out.
    ...(version !== undefined && version !== "" && { version: { field: `${field}.version`, value: version } }),
    field,
    machineSpec: {
      ...(provider !== undefined && provider !== "" && { provider }),
      ...(machineClass !== undefined && { machineClass: machineClass === "" ? fallbackClass : machineClass }),
      ...(disks.length > 0 && { disks }),
      ...network,
      os: { architecture: architecture ?? "amd64" },
    },
    labels: nodeMetadata(notes, `${field}.metadata.labels`, metadata?.labels ?? {}, "label"),
    annotations: nodeMetadata(notes, `${field}.metadata.annotations`, metadata?.annotations ?? {}, "annotation"),
    taints: taintsOf(`${field}.taint`, taint, notes),
  };
}

const effects: readonly string[] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

function taintsOf(field: string, taints: NonNullable<TopologyGroup["taint"]>, notes: Notes): readonly NodeTaint[] {
  const seen = new Set<string>();
  return taints.flatMap(({ key, value, effect }, index) => {
    const at = `${field}[${index}]`;
    if (!effects.includes(effect)) wrong(notes, `${at}.effect`, `${quote(effect)} is no effect`, `Write ${effects.join(", ")}`);
    const pair = nodeMetadata(notes, at, { [key]: value }, "taint");
    if (seen.has(key)) {
      wrong(notes, `${at}.key`, `${quote(key)} stands in an earlier taint too`, "Talos keeps one taint for each key: leave one");
      return [];
    }
    seen.add(key);
    return Object.entries(pair).map(([one, text]) => ({ key: one, value: text, effect: effect as NodeTaint["effect"] }));
  });
}

function inventoryOf(data: ClusterData): Draft["inventory"] {
  const { clusterUid, datacenter, environment, project, region, workorder, workspace, zone } = data;
  return { clusterUid, datacenter, environment, project, region, workorder, workspace, zone };
}
