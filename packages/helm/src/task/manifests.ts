import type { HelmFailureReason, HelmResult, WorkloadRef } from "./result.ts";
import type { HelmSecrets, HelmTask, ReleaseName } from "./task.ts";

/** Everything that a worker of addons is asked: Helm, or objects without Helm. */
export type AddonTask = HelmTask | ManifestsTask;

/** What a worker of addons answers. */
export type AddonResult = HelmResult | ManifestsResult;

/** What must not stand in a task of either kind. */
export interface AddonSecrets extends HelmSecrets {
  /** The texts of a manifests task, in the order of its sources of kind `text`. */
  readonly texts?: readonly string[];
}

/**
 * What a worker is asked to do with a set of objects that needs no Helm. Every task may be given again after a worker died anywhere: what was begun stands in the
 * set's inventory in the cluster before the first object is touched.
 */
export type ManifestsTask = ApplyManifestsTask | RemoveManifestsTask;

interface SetTask {
  /** How people call the set, and the namespace of objects that name none. */
  readonly release: ReleaseName;
  /** UID of the object that the set belongs to. Objects that it made bear it as an annotation; nobody else's are deleted. */
  readonly owner: string;
  /** When the worker gives up. Milliseconds from its start. */
  readonly timeoutMs: number;
  /** This run. 12 hex digits. */
  readonly run: string;
  /** What is no longer in the set is deleted. */
  readonly prune: boolean;
  /** Namespaces, CRDs, PersistentVolumeClaims and PersistentVolumes, too. */
  readonly pruneProtected: boolean;
}

/** Makes the objects of the set as its sources have them, by server-side apply, then removes those that left it. */
export interface ApplyManifestsTask extends SetTask {
  readonly kind: "apply-manifests";
  readonly sources: readonly ManifestSource[];
  /** 16 hex digits that stand for what was asked for; written into the inventory once all of it is applied. */
  readonly inputs: string;
  /** Nothing is done where the inventory says that these inputs were applied. */
  readonly isOnce: boolean;
  /** Fields and objects of others are taken over. */
  readonly takeOwnership: boolean;
  /** Labels that the namespace of {@link SetTask.release} gets. Others of it stay. */
  readonly namespaceLabels?: Readonly<Record<string, string>>;
}

/** Removes what the inventory names, and the inventory. Given again, or with none there, it is done. */
export interface RemoveManifestsTask extends SetTask {
  readonly kind: "remove-manifests";
}

export type ManifestSource =
  /** One of {@link AddonSecrets.texts}; `name` is for people. */
  | { readonly kind: "text"; readonly name: string }
  /** `https://` only. Other bytes than those of the digest are refused. `sha256`: 64 hex digits. */
  | { readonly kind: "url"; readonly url: string; readonly sha256: string };

export type ManifestsResult = ManifestsAppliedResult | ManifestsRemovedResult | ManifestsFailed;

export interface ManifestsAppliedResult {
  readonly kind: "manifests-applied";
  /** Objects of the set. */
  readonly objects: number;
  /** Those that run pods, at most 20. */
  readonly workloads: readonly WorkloadRef[];
  /** Objects that were deleted because they left the set. */
  readonly pruned: number;
  readonly kept: KeptObjects;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface ManifestsRemovedResult {
  readonly kind: "manifests-removed";
  /** False when there was no inventory. */
  readonly wasThere: boolean;
  readonly deleted: number;
  readonly kept: KeptObjects;
}

/** Objects that left the set and are there all the same: protected, or not to be pruned. */
export interface KeptObjects {
  readonly total: number;
  /** `Namespace web`, `PersistentVolumeClaim web/data`; at most 10. */
  readonly names: readonly string[];
}

export interface ManifestsFailed {
  readonly kind: "manifests-failed";
  readonly reason: ManifestsFailureReason;
  /** A sentence for people: what is wrong, then what would release it. Holds no value of an object. */
  readonly message: string;
  /** Whether another try may go better without a person. */
  readonly mayRepeat: boolean;
}

/**
 * - `source-unreachable`: an address does not answer, or not with 200; `source-too-large`; `digest-mismatch`
 * - `manifests-invalid`: a source is no YAML, or no set of objects of Kubernetes
 * - `kind-not-served`: the cluster knows no such kind, and no CRD of the set makes it
 * - `object-not-ours`: an object belongs to another addon; `fields-not-ours`: another manager has fields
 * - the others as in {@link HelmFailureReason}
 */
export type ManifestsFailureReason =
  | "source-unreachable"
  | "source-too-large"
  | "manifests-invalid"
  | "kind-not-served"
  | "fields-not-ours"
  | Extract<
      HelmFailureReason,
      | "digest-mismatch"
      | "object-not-ours"
      | "cluster-unreachable"
      | "cluster-refused"
      | "api-refused"
      | "not-ready"
      | "bad-task"
      | "timed-out"
      | "failed"
    >;

/** Whether a task is about objects without Helm. */
export function isManifestsTask(task: AddonTask): task is ManifestsTask {
  return task.kind === "apply-manifests" || task.kind === "remove-manifests";
}
