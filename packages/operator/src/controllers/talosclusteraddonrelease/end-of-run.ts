import { findCondition, rfc3339 } from "@talos-operator/api";
import { failureOf } from "./failures.ts";
import { nameAfterFailure } from "./kept-name.ts";
import { driftAfterApply } from "./drift.ts";
import { afterEdit, chartAfter, refusedRollback, triedBy } from "./rollback.ts";
import { appliedFields, appliedWords, failureOfManifests, isManifestsWish } from "./manifests.ts";
import { ended, over, saying } from "./saying.ts";
import { HOPELESS_RETRY_MS } from "./times.ts";
import type { AddonRevision, AddonRun, TalosClusterAddonRelease } from "@talos-operator/api";
import type { AddonResult, AppliedResult, HelmFailed, ManifestsAppliedResult, Revision, RolledBackResult } from "@talos-operator/helm";
import type { Failure } from "./failures.ts";
import type { ReleaseDecision, ReleaseFields, ReleaseSeen } from "./model.ts";

/** Between one try and the next with the same inputs, then always the last one. Milliseconds. */
const RETRY_MS = [15_000, 60_000, 5 * 60_000, 15 * 60_000] as const;

export function ending(seen: ReleaseSeen, run: AddonRun, result: AddonResult | undefined): ReleaseDecision {
  if (result === undefined) return endOfTry(seen, run, clientFailed(run, "ended without a result"));
  if (result.kind === "failed")
    return run.task === "rollback" && result.reason === "bad-task"
      ? unknownRevision(seen, run, failureOf(result))
      : endOfTry(seen, run, failureOf(result), result);
  if (result.kind === "manifests-failed") return endOfTry(seen, run, failureOfManifests(result));
  if (result.kind === "applied" && run.task === "apply") return applied(seen, run, result);
  if (result.kind === "rolled-back" && run.task === "rollback") return rolledBack(seen, run, result);
  if (result.kind === "manifests-applied" && run.task === "apply") return manifestsApplied(seen, run, result);
  return endOfTry(seen, run, clientFailed(run, "reported a result of another task"));
}

export function clientFailed({ name }: AddonRun, why: string): Failure {
  return { reason: "HelmClientFailed", message: `The run ${name} ${why}.`, mayRepeat: true };
}

function applied(seen: ReleaseSeen, run: AddonRun, result: AppliedResult): ReleaseDecision {
  const { release, wish } = seen;
  const { chart, revision } = result;
  const asked = wish.kind === "there" && wish.wish.inputs === run.inputs && !isManifestsWish(wish.wish) ? wish.wish.asked : "";
  const message = `${chart.name} ${chart.version} is deployed as revision ${revision.number}.`;
  const { name, version, digest, kubeVersion, appVersion } = chart;
  const optional = { ...(appVersion === undefined ? {} : { appVersion }), ...(kubeVersion === undefined ? {} : { kubeVersion }) };
  const fields = {
    ...deployed(seen, result),
    inputs: run.inputs,
    chart: { name, version, digest, ...optional, asked },
    rolledBack: afterEdit(release),
    ...(result.adopted === true ? { isAdopted: true } : {}),
  };
  return over(seen, run, message, fields, [
    ...(result.isNew ? [{ reason: "AddonInstalled", note: message } as const] : []),
    ...(run.beyond === undefined
      ? []
      : [{ reason: "AddonDriftReverted", note: `What others changed of revision ${run.beyond} is taken back.` } as const]),
  ]);
}

function rolledBack(seen: ReleaseSeen, run: AddonRun, result: RolledBackResult): ReleaseDecision {
  const { revision } = result;
  const message = `Revision ${run.revision ?? 0} is deployed again, as revision ${revision.number}: a person asked for it.`;
  const fields = {
    ...deployed(seen, result),
    inputs: revision.inputs,
    chart: chartAfter(seen.release, revision),
    rolledBack: {
      ...(run.revision === undefined ? {} : { to: run.revision }),
      ...(run.inputs === undefined ? {} : { from: run.inputs }),
    },
  };
  return over(seen, run, message, fields, [{ reason: "AddonRolledBack", note: message }]);
}

/** Helm has no such revision: nothing is changed, and what runs is as ready as it was. */
function unknownRevision(seen: ReleaseSeen, run: AddonRun, { message }: Failure): ReleaseDecision {
  const { release } = seen;
  const chart = release.status?.chart;
  const runs = `${chart?.name ?? "The chart"} ${chart?.version ?? ""} is deployed as revision ${release.status?.revision ?? 0}.`;
  const fields = { rolledBack: refusedRollback(release, run, message) };
  return over(seen, run, runs, fields, [{ reason: "AddonFailed", note: message }]);
}

function manifestsApplied(seen: ReleaseSeen, run: AddonRun, result: ManifestsAppliedResult): ReleaseDecision {
  const { release } = seen;
  const fields = { inputs: run.inputs, ...appliedFields(release, result) };
  const message = `${appliedWords(result.objects, result.kept)}.`;
  // What is applied once more every hour is no news.
  const isNews = release.status?.inputs !== run.inputs || result.pruned > 0;
  return over(seen, run, message, fields, isNews ? [{ reason: "AddonInstalled", note: message }] : []);
}

/** What Helm tells of a revision that is deployed by now. */
function deployed({ release, now }: ReleaseSeen, told: AppliedResult | RolledBackResult): ReleaseFields {
  const { revision, history, objects, helm } = told;
  return {
    revision: revision.number,
    lastDeployed: rfc3339(revision.at),
    history: history.slice(0, 10).map(revisionField),
    objects: objects.total,
    workloads: objects.workloads.slice(0, 20),
    readyWorkloads: undefined,
    drift: driftAfterApply(release, now),
    helmVersion: helm,
  };
}

export function endOfTry(seen: ReleaseSeen, run: AddonRun, failure: Failure, told?: HelmFailed): ReleaseDecision {
  const { release, now } = seen;
  const tried = triedBy(run);
  const isSame = release.status?.failedInputs === tried;
  const attempts = (isSame ? (release.status?.attempts ?? 0) : 0) + 1;
  const pauseMs = failure.mayRepeat ? (RETRY_MS[Math.min(attempts, RETRY_MS.length) - 1] ?? HOPELESS_RETRY_MS) : HOPELESS_RETRY_MS;
  const back = told?.rolledBackTo;
  const message = `${failure.message}${back === undefined ? "" : ` Revision ${back} is deployed again.`}`;
  const isNews = !isSame || findCondition(release.status?.conditions, "Ready")?.reason !== failure.reason;
  const history = told?.history?.slice(0, 10).map(revisionField);
  const runs = told?.history?.find(({ status }) => status === "deployed");
  const fields = {
    ...ended(release, run),
    ...nameAfterFailure(release, told),
    ...(tried === undefined ? {} : { failedInputs: tried }),
    ...(mayHaveChanged(release, run, told) ? { inputs: undefined } : {}),
    attempts,
    nextAttemptTime: rfc3339(now + pauseMs),
    ...(history === undefined ? {} : { history }),
    ...(runs === undefined ? {} : { revision: runs.number }),
    ...(told?.helm === undefined ? {} : { helmVersion: told.helm }),
  };
  const news = [
    ...(isNews ? [{ reason: "AddonFailed", note: message } as const] : []),
    ...(back === undefined ? [] : [{ reason: "AddonRolledBack", note: `Revision ${back} is deployed again.` } as const]),
  ];
  return saying(seen, failure.reason, message, fields, { news, requeueAfterMs: pauseMs });
}

/** What was installed before may be there by halves: whoever goes back to it installs it anew. Where it is whole the worker finds that out, and makes no revision. */
function mayHaveChanged({ status }: TalosClusterAddonRelease, run: AddonRun, told: HelmFailed | undefined): boolean {
  if (run.task === "uninstall" || (run.task === "apply" && run.inputs === status?.inputs)) return false;
  return told?.history?.[0]?.status !== "deployed";
}

function revisionField({ number, status, chartVersion, appVersion, at }: Revision): AddonRevision {
  return { revision: number, status, chartVersion, ...(appVersion === undefined ? {} : { appVersion }), deployedAt: rfc3339(at) };
}
