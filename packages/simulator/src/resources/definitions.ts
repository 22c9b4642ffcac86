import { isAtLeast } from "../node/version.ts";
import { definitionTable } from "./definition-table.ts";
import type { PlainSpec } from "./proto-spec.ts";

/** What a node says about one resource type. */
export interface Definition {
  readonly type: string;
  readonly namespace: string;
  readonly isSensitive: boolean;
  /** Id of the `ResourceDefinition`: the type in lower case. */
  readonly id: string;
  readonly spec: PlainSpec;
}

const byVersion = new Map<string, ReadonlyMap<string, Definition>>();

/** Types that this Talos version serves, by full name. */
export function definitionsFor(talosVersion: string): ReadonlyMap<string, Definition> {
  const known = byVersion.get(talosVersion);
  if (known !== undefined) return known;
  const definitions = new Map<string, Definition>();
  for (const [type, displayType, namespace, isSensitive, since, aliases, columns] of definitionTable) {
    if (since !== "" && !isAtLeast(talosVersion, since)) continue;
    const id = type.toLowerCase();
    const own = [...aliases, displayType.toLowerCase(), initials(displayType)].filter((alias) => alias !== "");
    definitions.set(type, {
      type,
      namespace,
      isSensitive,
      id,
      spec: {
        type,
        displayType,
        defaultNamespace: namespace,
        aliases: own,
        allAliases: [...prefixesOf(id), ...own],
        printColumns: columns.map(([name, path]) => ({ name, jsonPath: path === "" ? "{}" : `{.${path}}` })),
        ...(isSensitive ? { sensitivity: "sensitive" } : {}),
      },
    });
  }
  byVersion.set(talosVersion, definitions);
  return definitions;
}

/** Namespaces of a node with their descriptions. */
export const namespaces: Readonly<Record<string, string>> = {
  cluster: "Cluster configuration and discovery resources.",
  "cluster-raw": "Cluster unmerged raw resources.",
  config: "Talos node configuration.",
  containers: "Containers.",
  controlplane: "Kubernetes control plane resources.",
  cri: "CRI Seccomp resources.",
  etcd: "etcd resources.",
  files: "Files and file-like resources.",
  hardware: "Hardware resources.",
  k8s: "Kubernetes all node types resources.",
  kubespan: "KubeSpan resources.",
  meta: "Metadata namespace which contains resource and namespace definitions.",
  network: "Networking resources.",
  "network-config": "Networking configuration resources.",
  perf: "Stats resources.",
  runtime: "Talos Linux runtime resources.",
  secrets: "Resources with secret material.",
  security: "Security resources.",
  storage: "Storage resources.",
};

/** `members`, `members.cluster`, `members.cluster.talos`: every prefix but the whole. */
function prefixesOf(id: string): readonly string[] {
  const parts = id.split(".");
  return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join("."));
}

function initials(displayType: string): string {
  return displayType.replaceAll(/[^A-Z]/g, "").toLowerCase();
}
