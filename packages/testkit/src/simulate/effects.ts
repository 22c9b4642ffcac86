import type { KubeRequest } from "@talos-operator/ports";

/**
 * Points where the operator can die, lose a reply or be doubled: the rows of the effect inventory that creation meets.
 *
 * K1 bundle Secret, K2 ClusterRecord, K4 access Secrets (they carry minted certificates), K5 child objects, K6 status, K7 finalizers and other
 * metadata, K8 lease, K9 events; T2 configuration in maintenance mode, T3 authenticated configuration, T4 bootstrap, T9 reset.
 *
 * What composes a KubernetesCluster counts under the same names: Machines and pools that are applied or deleted are K5, finalizers and annotations of
 * Machines K7. Its files are no effect of a port that loses replies: they are written before each K5 that concerns them, and a crash at that K5 is one
 * between the two. Static network settings count as the configuration that they go with, T2 or T3.
 */
export type EffectId =
  `K${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}` | `T${2 | 3 | 4 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13}` | "WL1" | StoreEffectId | HelmEffectId;

/**
 * Effects of a worker of backups in the store: S3-1 an upload begun, S3-2 a part or a small object put, S3-3 an upload completed, S3-4 a manifest put, S3-5 an
 * object removed or an upload aborted. T12 is the stream of a snapshot.
 */
export type StoreEffectId = `S3-${1 | 2 | 3 | 4 | 5}`;

/** Effects of addons: H1 a worker is started, H2 what its Helm does in the cluster. A crash at H2 is one of the worker. */
export type HelmEffectId = "H1" | "H2";

/** The effect that a request to the Kubernetes API has, `undefined` for reads. */
export function kubeEffect(request: KubeRequest): EffectId | undefined {
  if (request.method === "GET") return undefined;
  const resource = resourceOf(request.path);
  switch (resource.plural) {
    case "leases":
      return "K8";
    case "events":
      return "K9";
    case "clusterrecords":
      return resource.subresource === "status" ? "K6" : "K2";
    case "secrets":
      return secretEffect(resource.name ?? nameInBody(request.body), request.method);
    default:
      if (resource.subresource === "status") return "K6";
      return request.method === "POST" || (request.method === "PATCH" && isApplyOfSpec(request)) || request.method === "DELETE"
        ? "K5"
        : "K7";
  }
}

/** The effect that a request to the API of the managed cluster has: cordon, eviction, uncordon, the end of a Node; `undefined` for reads. */
export function workloadEffect(request: KubeRequest): EffectId | undefined {
  return request.method === "GET" ? undefined : "WL1";
}

/** What calls do that change something, by their names. */
const TALOS_EFFECTS: Readonly<Record<string, EffectId>> = {
  ApplyConfiguration: "T3",
  MetaWrite: "T3",
  MetaDelete: "T3",
  Bootstrap: "T4",
  EtcdForfeitLeadership: "T6",
  EtcdLeaveCluster: "T7",
  EtcdRemoveMemberByID: "T8",
  Reset: "T9",
  Upgrade: "T10",
  Install: "T10",
  Reboot: "T11",
  Rollback: "T11",
  Shutdown: "T11",
  EtcdDefragment: "T13",
  EtcdAlarmDisarm: "T13",
};

/** The effect of a Talos call, `undefined` for reads. */
export function talosEffect(path: string, isMaintenance: boolean): EffectId | undefined {
  const effect = TALOS_EFFECTS[path.slice(path.lastIndexOf("/") + 1)];
  return effect === "T3" && isMaintenance ? "T2" : effect;
}

/** The effect of a Talos call that answers a stream, `undefined` for others. */
export function streamEffect(path: string): EffectId | undefined {
  if (path.endsWith(".LifecycleService/Upgrade")) return "T10";
  return path.endsWith("/EtcdSnapshot") ? "T12" : undefined;
}

interface ResourcePath {
  readonly plural: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

function resourceOf(path: string): ResourcePath {
  const segments = path.split("/").filter((segment) => segment !== "");
  const rest = segments.slice(segments[0] === "api" ? 2 : 3);
  const inNamespace = rest[0] === "namespaces" && rest.length > 2;
  const [plural = "", name, subresource] = inNamespace ? rest.slice(2) : rest;
  return { plural, name, subresource };
}

function nameInBody(body: unknown): string {
  return (body as { metadata?: { name?: string } } | undefined)?.metadata?.name ?? "";
}

function secretEffect(name: string, method: string): EffectId {
  if (/-bundle-\d+$/.test(name)) return method === "POST" ? "K1" : "K7";
  if (/-applied-/.test(name)) return "K3";
  return "K4";
}

function isApplyOfSpec(request: KubeRequest): boolean {
  return (
    (request.headers?.["content-type"] ?? "").startsWith("application/apply-patch") &&
    (request.body as { spec?: unknown } | undefined)?.spec !== undefined
  );
}
