import type { TalosClusterAddonReleaseStatus } from "@talos-operator/api";
import type { KubeClient, ResourceType } from "@talos-operator/kube-runtime";

/** How what a release runs is. */
export type SeenHealth =
  | {
      readonly kind: "seen";
      readonly ready: number;
      readonly total: number;
      /** What is not ready, for people: `Deployment web/web (1 of 2 ready)`. */
      readonly waiting: readonly string[];
      /** When to look again. Milliseconds. */
      readonly lookAgainMs: number;
    }
  | { readonly kind: "unreachable"; readonly message: string; readonly ready: undefined; readonly lookAgainMs: number }
  /** Somebody looks, and wakes the release when it was seen. */
  | { readonly kind: "looking"; readonly ready: undefined; readonly lookAgainMs: number }
  /** Nothing that it runs is there, and Helm knows no revision of it: somebody uninstalled it, or the cluster lost what it held. */
  | { readonly kind: "gone"; readonly ready: undefined; readonly lookAgainMs: number };

type WorkloadRef = NonNullable<TalosClusterAddonReleaseStatus["workloads"]>[number];

/** What is read of an object that runs pods. */
interface WorkloadObject {
  readonly metadata: { readonly generation?: number };
  readonly spec?: { readonly replicas?: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly updatedReplicas?: number;
    readonly availableReplicas?: number;
    readonly readyReplicas?: number;
    readonly desiredNumberScheduled?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberAvailable?: number;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

const TYPES: Readonly<Record<WorkloadRef["kind"], ResourceType>> = {
  Deployment: { group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true },
  DaemonSet: { group: "apps", version: "v1", plural: "daemonsets", kind: "DaemonSet", namespaced: true },
  StatefulSet: { group: "apps", version: "v1", plural: "statefulsets", kind: "StatefulSet", namespaced: true },
  Job: { group: "batch", version: "v1", plural: "jobs", kind: "Job", namespaced: true },
};

const secrets: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };

/** Whether Helm knows any revision of a release. @throws KubeApiError when the cluster does not answer */
export async function isKnownToHelm(
  client: KubeClient,
  release: { readonly name: string; readonly namespace: string },
  timeoutMs: number,
): Promise<boolean> {
  const labelSelector = `owner=helm,name=${release.name}`;
  const { items } = await client
    .resource<{ readonly metadata: object }>(secrets)
    .listPage({ namespace: release.namespace, labelSelector, limit: 1, timeoutMs });
  return items.length > 0;
}

const configMaps: ResourceType = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };

/** Whether the cluster has the inventory of a set of objects. @throws KubeApiError when the cluster does not answer */
export async function hasInventory(client: KubeClient, name: string, timeoutMs: number): Promise<boolean> {
  return (await client.resource(configMaps).tryGet({ namespace: "kube-system", name }, { timeoutMs })) !== undefined;
}

/** What of the objects is not ready. @throws KubeApiError when the cluster does not answer */
export async function unreadyWorkloads(client: KubeClient, refs: readonly WorkloadRef[], timeoutMs: number): Promise<readonly string[]> {
  const words = await Promise.all(
    refs.map(async (ref) => {
      const object = await client.resource<WorkloadObject & { readonly metadata: object }>(TYPES[ref.kind]).tryGet(ref, { timeoutMs });
      const why = whyUnready(ref.kind, object);
      return why === undefined ? undefined : `${ref.kind} ${ref.namespace}/${ref.name} (${why})`;
    }),
  );
  return words.filter((word) => word !== undefined);
}

/** Said of an object that is not there. */
export const NOT_THERE = "it is not there";

/** Why an object is not ready, as kstatus reads it; `undefined` when it is. Pure. */
export function whyUnready(kind: WorkloadRef["kind"], object: WorkloadObject | undefined): string | undefined {
  if (object === undefined) return NOT_THERE;
  const { metadata, spec = {}, status = {} } = object;
  if (kind === "Job") {
    const is = (type: string): boolean => status.conditions?.some((one) => one.type === type && one.status === "True") === true;
    return is("Complete") ? undefined : is("Failed") ? "it failed" : "it is not complete";
  }
  if (count(status.observedGeneration) < count(metadata.generation)) return "its last change is not taken up";
  const wanted = kind === "DaemonSet" ? count(status.desiredNumberScheduled) : count(spec.replicas ?? 1);
  const updated = count(kind === "DaemonSet" ? status.updatedNumberScheduled : status.updatedReplicas);
  const there = count(kind === "DaemonSet" ? status.numberAvailable : (status.availableReplicas ?? status.readyReplicas));
  if (updated < wanted) return `${updated} of ${wanted} updated`;
  return there < wanted ? `${there} of ${wanted} ready` : undefined;
}

/** What is no number counts as none: a cluster that its owner made hostile tells what it likes, and it would stand in a condition. */
function count(told: unknown): number {
  return typeof told === "number" ? told : 0;
}
