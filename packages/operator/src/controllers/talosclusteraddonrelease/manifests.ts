import { conditionFor, findCondition, rfc3339 } from "@talos-operator/api";
import type { AddonRun, ConditionInput, ReadyReason, TalosClusterAddonRelease } from "@talos-operator/api";
import type { KeptObjects, ManifestsAppliedResult, ManifestsFailed, ManifestsFailureReason } from "@talos-operator/helm";
import type { ManifestsWish } from "../../addons/manifests-wish.ts";
import type { ReleaseWish } from "../../addons/wish.ts";
import type { Failure } from "./failures.ts";
import type { ReleaseDecision, ReleaseFields, ReleaseSeen } from "./model.ts";

/** Objects are applied again so long after they were last applied, and up to a third later: a thousand releases do not meet. Milliseconds. */
const REAPPLY_MS = 60 * 60_000;

/** What one run may take: it waits for no pods. Milliseconds. */
export const MANIFESTS_MS = 10 * 60_000;

/** Whether what is wanted is a set of objects, not a chart. */
export function isManifestsWish(wish: ReleaseWish | ManifestsWish): wish is ManifestsWish {
  return "sources" in wish;
}

/** Whether what a release is, or was begun as, is a set of objects. What was begun counts first: it is that which is removed. */
export function isManifestsRelease({ spec, status }: Pick<TalosClusterAddonRelease, "spec" | "status">): boolean {
  return status?.releaseName === undefined ? spec.manifests !== undefined : status.manifests !== undefined;
}

/** Name of the ConfigMap in the cluster that lists what was applied; the worker names it alike. */
export function inventoryOf({ metadata }: Pick<TalosClusterAddonRelease, "metadata">): string {
  return `talos-operator-addon-${metadata.uid ?? ""}`;
}

/** Something of the release was in the cluster once. */
export function wasInstalled({ status }: Pick<TalosClusterAddonRelease, "status">): boolean {
  return status?.revision !== undefined || status?.manifests?.appliedAt !== undefined;
}

/** When what is settled is applied once more; `undefined` = never. Milliseconds since the epoch. */
export function reapplyAt({ metadata, spec, status }: TalosClusterAddonRelease): number | undefined {
  const last = Date.parse(status?.manifests?.appliedAt ?? "");
  if (spec.manifests === undefined || spec.manifests.mode === "Once" || Number.isNaN(last)) return undefined;
  // The same for the same object, so that a restart does not put it off.
  const share = Number.parseInt((metadata.uid ?? "").replaceAll("-", "").slice(-4), 16) / 0xffff;
  return last + Math.round(REAPPLY_MS * (1 + (Number.isNaN(share) ? 0 : share) / 3));
}

/** Whether settled objects are to be applied once more: what others wait for goes before it. */
export function isToReapply({ release, now, othersRunning, run }: ReleaseSeen): boolean {
  const at = reapplyAt(release);
  if (at === undefined || run !== undefined) return false;
  // A clock that was set back must not make it wait for longer than it would have.
  const isDue = now >= at || at - now > 2 * REAPPLY_MS;
  return isDue && othersRunning === 0;
}

/** True while what is applied is applied once more: nothing new is on its way, and who reads Ready hears nothing of it. */
export function isReapplying({ release: { status } }: ReleaseSeen, run: AddonRun | undefined): boolean {
  return status?.manifests?.appliedAt !== undefined && run?.task === "apply" && run.inputs !== undefined && run.inputs === status.inputs;
}

/** The decision with Ready as it is: only once a repetition failed it is told. */
export function quietly(seen: ReleaseSeen, decision: ReleaseDecision): ReleaseDecision {
  const ready = findCondition(seen.release.status?.conditions, "Ready");
  const told = decision.conditions.find(({ type }) => type === "Ready");
  if (ready === undefined || told?.reason !== "Installing") return decision;
  if (ready.reason !== "Installed" && ready.reason !== "WorkloadsNotReady") return decision;
  const kept = conditionFor("Ready", ready.reason as ReadyReason, ready.message, seen.release.metadata.generation);
  return { ...decision, isBusy: false, conditions: decision.conditions.map((one): ConditionInput => (one.type === "Ready" ? kept : one)) };
}

/** How many objects are applied, for people. */
export function appliedWords(objects: number, kept: KeptObjects): string {
  return `${objects} ${objects === 1 ? "object is" : "objects are"} applied${keptWords(kept)}`;
}

/** The same of what the status tells. */
export function appliedWordsOf({ status }: Pick<TalosClusterAddonRelease, "status">): string {
  const { kept = 0, keptObjects = [] } = status?.manifests ?? {};
  return appliedWords(status?.objects ?? 0, { total: kept, names: keptObjects });
}

/** What a run told of the set. */
export function appliedFields(release: TalosClusterAddonRelease, result: ManifestsAppliedResult): ReleaseFields {
  return {
    lastDeployed: rfc3339(result.at),
    objects: result.objects,
    workloads: result.workloads.slice(0, 20),
    readyWorkloads: undefined,
    manifests: {
      inventory: inventoryOf(release),
      appliedAt: rfc3339(result.at),
      pruned: result.pruned,
      kept: result.kept.total,
      keptObjects: result.kept.names.slice(0, 10),
    },
  };
}

/** `; kept: Namespace web, and 2 more`; empty where nothing is. */
export function keptWords({ total, names }: KeptObjects): string {
  if (total === 0) return "";
  const first = names.slice(0, 3);
  return `; kept: ${first.join(", ")}${total > first.length ? `, and ${total - first.length} more` : ""}`;
}

const REASONS: Readonly<Record<ManifestsFailureReason, ReadyReason>> = {
  "source-unreachable": "ManifestsUnreachable",
  "source-too-large": "ManifestsRefused",
  "digest-mismatch": "ManifestsRefused",
  "manifests-invalid": "ManifestsRefused",
  "kind-not-served": "ApplyFailed",
  "fields-not-ours": "ObjectsConflict",
  "object-not-ours": "ObjectsConflict",
  "cluster-unreachable": "ClusterNotReachable",
  "cluster-refused": "KubeconfigFailed",
  "api-refused": "ApplyFailed",
  "not-ready": "ApplyFailed",
  "bad-task": "SpecRefused",
  "timed-out": "ApplyFailed",
  failed: "ApplyFailed",
};

/** What a worker told, as a condition has it. */
export function failureOfManifests({ reason, message, mayRepeat }: ManifestsFailed): Failure {
  return { reason: REASONS[reason], message: message.slice(0, 1_024), mayRepeat };
}
