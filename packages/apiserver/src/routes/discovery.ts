import type { JsonObject } from "../json.ts";
import type { ServedKind } from "../kinds/kind.ts";
import type { KindRegistry } from "../kinds/registry.ts";
import { compareVersions } from "../schema/index.ts";
import type { CompiledVersion } from "../schema/index.ts";

interface GroupVersion {
  readonly version: string;
  readonly members: readonly { readonly kind: ServedKind; readonly version: CompiledVersion }[];
}

/** Groups with their versions, most preferred first; the core group has the empty name. */
function groupsOf(kinds: KindRegistry): ReadonlyMap<string, readonly GroupVersion[]> {
  const groups = new Map<string, Map<string, { kind: ServedKind; version: CompiledVersion }[]>>();
  for (const kind of kinds.all()) {
    const versions = groups.get(kind.group) ?? new Map<string, { kind: ServedKind; version: CompiledVersion }[]>();
    groups.set(kind.group, versions);
    for (const version of kind.versions.values()) {
      versions.set(version.version, [...(versions.get(version.version) ?? []), { kind, version }]);
    }
  }
  return new Map(
    [...groups].map(([group, versions]) => [
      group,
      [...versions]
        .sort(([a], [b]) => compareVersions(a, b))
        .map(([version, members]) => ({ version, members: members.sort((a, b) => (a.kind.plural < b.kind.plural ? -1 : 1)) })),
    ]),
  );
}

/** All group-versions: `v1`, `coordination.k8s.io/v1`, ... */
export function groupVersionsOf(kinds: KindRegistry): readonly string[] {
  return [...groupsOf(kinds)].flatMap(([group, versions]) =>
    versions.map(({ version }) => (group === "" ? version : `${group}/${version}`)),
  );
}

/** The served kinds of one group-version. */
export function kindsOfGroupVersion(kinds: KindRegistry, groupVersion: string): readonly CompiledVersion[] {
  return kinds.all().flatMap((kind) => [...kind.versions.values()].filter((version) => version.apiVersion === groupVersion));
}

/**
 * `/api`.
 *
 * @param address under which the client reached the server, `host:port`; `undefined` within the process
 */
export function apiVersions(address: string | undefined): JsonObject {
  const served = address === undefined ? [] : [{ clientCIDR: "0.0.0.0/0", serverAddress: address }];
  return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: served };
}

/** `/apis`. */
export function apiGroupList(kinds: KindRegistry): JsonObject {
  const groups = [...groupsOf(kinds)].filter(([group]) => group !== "").map(([group, versions]) => groupEntry(group, versions));
  return { kind: "APIGroupList", apiVersion: "v1", groups };
}

/** `/apis/<group>`; `undefined` when nothing of it is served. */
export function apiGroup(kinds: KindRegistry, group: string): JsonObject | undefined {
  const versions = groupsOf(kinds).get(group);
  return versions === undefined || group === "" ? undefined : { kind: "APIGroup", apiVersion: "v1", ...groupEntry(group, versions) };
}

function groupEntry(group: string, versions: readonly GroupVersion[]): JsonObject {
  const entries = versions.map(({ version }) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: entries, preferredVersion: entries[0] };
}

/** `/api/v1` and `/apis/<group>/<version>`; `undefined` when nothing of it is served. */
export function apiResourceList(kinds: KindRegistry, group: string, wanted: string): JsonObject | undefined {
  const found = groupsOf(kinds)
    .get(group)
    ?.find(({ version }) => version === wanted);
  if (found === undefined) {
    return undefined;
  }
  const resources = found.members.flatMap(({ kind, version }) => {
    const { names } = version;
    const common = { singularName: names.singular, namespaced: kind.namespaced };
    return [
      {
        name: kind.plural,
        ...common,
        kind: names.kind,
        verbs: kind.strategy.verbs,
        ...(names.shortNames.length === 0 ? {} : { shortNames: names.shortNames }),
        ...(names.categories.length === 0 ? {} : { categories: names.categories }),
      },
      ...subresourcesOf(kind, version).map((subresource) => ({
        name: `${kind.plural}/${subresource.name}`,
        singularName: "",
        namespaced: kind.namespaced,
        ...(subresource.apiVersion === version.apiVersion ? {} : groupAndVersion(subresource.apiVersion)),
        kind: subresource.kind,
        verbs: subresource.verbs,
      })),
    ];
  });
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: group === "" ? wanted : `${group}/${wanted}`, resources };
}

/** Aggregated discovery for `/api` (core) or `/apis` (everything else). */
export function aggregatedDiscovery(kinds: KindRegistry, isCore: boolean, apiVersion: "v2" | "v2beta1"): JsonObject {
  const items = [...groupsOf(kinds)]
    .filter(([group]) => (group === "") === isCore)
    .map(([group, versions]) => ({
      metadata: { ...(group === "" ? {} : { name: group }), creationTimestamp: null },
      versions: versions.map(({ version, members }) => ({
        version,
        resources: members.map((member) => aggregatedResource(member.kind, member.version)),
        freshness: "Current",
      })),
    }));
  return { kind: "APIGroupDiscoveryList", apiVersion: `apidiscovery.k8s.io/${apiVersion}`, metadata: {}, items };
}

function aggregatedResource(kind: ServedKind, version: CompiledVersion): JsonObject {
  const { names } = version;
  const subresources = subresourcesOf(kind, version).map((subresource) => ({
    subresource: subresource.name,
    responseKind: { ...groupAndVersion(subresource.apiVersion), kind: subresource.kind },
    verbs: subresource.verbs,
  }));
  return {
    resource: kind.plural,
    responseKind: { group: version.group, version: version.version, kind: names.kind },
    scope: kind.namespaced ? "Namespaced" : "Cluster",
    singularResource: names.singular,
    verbs: kind.strategy.verbs,
    ...(names.shortNames.length === 0 ? {} : { shortNames: names.shortNames }),
    ...(names.categories.length === 0 ? {} : { categories: names.categories }),
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}

interface ServedSubresource {
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

const proxyVerbs = ["create", "delete", "get", "patch", "update"];

/** What is served below an object. */
function subresourcesOf(kind: ServedKind, version: CompiledVersion): readonly ServedSubresource[] {
  const verbs = ["get", "patch", "update"];
  const same = { apiVersion: version.apiVersion, kind: version.names.kind };
  return [
    ...(version.subresources.status ? [{ name: "status", ...same, verbs }] : []),
    ...Object.keys(kind.strategy.parts ?? {}).map((name) => ({ name, ...same, verbs })),
    ...(version.subresources.scale === undefined ? [] : [{ name: "scale", apiVersion: "autoscaling/v1", kind: "Scale", verbs }]),
    ...(kind.resource === "/pods"
      ? [
          { name: "attach", apiVersion: "v1", kind: "PodAttachOptions", verbs: ["create", "get"] },
          { name: "binding", apiVersion: "v1", kind: "Binding", verbs: ["create"] },
          { name: "eviction", apiVersion: "policy/v1", kind: "Eviction", verbs: ["create"] },
          { name: "exec", apiVersion: "v1", kind: "PodExecOptions", verbs: ["create", "get"] },
          { name: "log", apiVersion: "v1", kind: "Pod", verbs: ["get"] },
          { name: "portforward", apiVersion: "v1", kind: "PodPortForwardOptions", verbs: ["create", "get"] },
          { name: "proxy", apiVersion: "v1", kind: "PodProxyOptions", verbs: proxyVerbs },
        ]
      : []),
    ...(kind.resource === "/nodes" ? [{ name: "proxy", apiVersion: "v1", kind: "NodeProxyOptions", verbs: proxyVerbs }] : []),
    ...(kind.resource === "/services" ? [{ name: "proxy", apiVersion: "v1", kind: "ServiceProxyOptions", verbs: proxyVerbs }] : []),
    ...(kind.resource === "/serviceaccounts"
      ? [{ name: "token", apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", verbs: ["create"] }]
      : []),
    ...(kind.resource === "/namespaces" ? [{ name: "finalize", ...same, verbs: ["update"] }] : []),
  ];
}

function groupAndVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const [group, version] = apiVersion.split("/", 2);
  return version === undefined ? { group: "", version: group ?? "" } : { group: group ?? "", version };
}
