import { annotations, conditionFor, finalizers, findCondition, findingsMessage, rfc3339 } from "@talos-operator/api";
import type {
  AddonDrift,
  AddonRevision,
  AddonRun,
  ConditionInput,
  ReadyReason,
  TalosClusterAddonRelease,
  TalosClusterAddonReleaseStatus,
} from "@talos-operator/api";
import type { AddonResult, AppliedResult, HelmFailed, ManifestsAppliedResult, Revision, RolledBackResult } from "@talos-operator/helm";
import { helmOptionsOf, idleHelmFields } from "../../addons/helm-options.ts";
import { addonRunId, addonRunName } from "../../addons/runner.ts";
import type { AddonRunState } from "../../addons/runner.ts";
import type { ManifestsWish } from "../../addons/manifests-wish.ts";
import type { ReleaseWish } from "../../addons/wish.ts";
import { waitsFor } from "./dependencies.ts";
import { failureOf } from "./failures.ts";
import type { Failure } from "./failures.ts";
import { nameAfterFailure } from "./kept-name.ts";
import {
  driftAfterApply,
  driftCondition,
  driftDueIn,
  driftToRevert,
  driftWords,
  inspectedDrift,
  keptDrift,
  unknownDrift,
} from "./drift.ts";
import {
  afterEdit,
  chartAfter,
  isHeldBack,
  openRollback,
  refusedRollback,
  rememberedRollback,
  rollbackProblem,
  triedBy,
} from "./rollback.ts";
import { RUNS_AT_ONCE, waitsForTurn } from "./turns.ts";
import { isLate, timesOfRun } from "./time-of-run.ts";
import {
  MANIFESTS_MS,
  appliedFields,
  appliedWords,
  appliedWordsOf,
  failureOfManifests,
  inventoryOf,
  isManifestsRelease,
  isManifestsWish,
  isReapplying,
  isToReapply,
  keptWords,
  quietly,
  wasInstalled,
} from "./manifests.ts";
import type { ReleaseAct, ReleaseDecision, ReleaseFields, ReleaseNews, ReleaseSeen, SeenCluster } from "./model.ts";

/** Between one try and the next with the same inputs, then always the last one. Milliseconds. */
const RETRY_MS = [15_000, 60_000, 5 * 60_000, 15 * 60_000] as const;

/** What only a person or another chart changes is tried again so rarely. Milliseconds. */
const HOPELESS_RETRY_MS = 30 * 60_000;

/** How long a deletion tries to uninstall. Milliseconds. */
const REMOVAL_MS = 10 * 60_000;

/** On top of Helm's own waits: to begin, to fetch a chart, and to go back. Milliseconds. */
const AROUND_HELM_MS = 5 * 60_000;

/** How often a run is looked at, and what is waited for. Milliseconds. */
const LOOK_MS = 2_000;
const WAIT_MS = 10_000;

/** How many runs are remembered: a lock that one of them left may be released. */
const REMEMBERED_RUNS = 8;

/** Decides about one release. Pure. */
export function decideRelease(seen: ReleaseSeen): ReleaseDecision {
  const { release } = seen;
  if (release.metadata.deletionTimestamp !== undefined) return decideDeletion(seen);
  const { run } = release.status ?? {};
  if (run?.task === "inspect") return afterInspection(seen, run);
  // Nothing is only tried any more.
  if (run?.task === "preview")
    return { ...acting(seen, { kind: "none" }), fields: { ...fieldsOf(release), run: undefined }, requeueAfterMs: 0 };
  if (run !== undefined) {
    const decision = afterRun(seen, run);
    return isReapplying(seen, run) ? quietly(seen, decision) : decision;
  }
  const held = hold(seen);
  if (held !== undefined) return held;
  if (seen.wish.kind !== "there") return waiting(seen, "Installing", "What is to be installed is being read.", LOOK_MS);
  return toward(seen, seen.wish.wish);
}

function hasOurFinalizer({ metadata }: TalosClusterAddonRelease): boolean {
  return metadata.finalizers?.includes(finalizers.talosClusterAddonRelease) === true;
}

/** What stands before any installation. */
export function hold(seen: ReleaseSeen): ReleaseDecision | undefined {
  const { release, problems, cluster, wish } = seen;
  const [problem] = problems;
  if (seen.isTerminating) return waiting(seen, "NamespaceTerminating", "The namespace is going away: nothing is installed.");
  if (problem !== undefined) return waiting(seen, problem.reason, findingsMessage(problems));
  if (cluster.kind === "absent") return waiting(seen, "ControlPlaneNotFound", cluster.message);
  if (isElsewhere(seen)) return waiting(seen, "SpecRefused", elsewhereWords(seen));
  if (cluster.kind === "going") return waiting(seen, "WaitingForCluster", `The cluster ${cluster.name} is being deleted.`);
  if (cluster.kind === "waiting") return waiting(seen, "WaitingForCluster", cluster.message);
  if (seen.withoutHelm !== undefined) return waiting(seen, "HelmNotFound", seen.withoutHelm, 60_000);
  const first = waitsFor(seen.unready);
  if (first !== undefined && !wasInstalled(release)) return waiting(seen, "WaitingForDependency", first);
  return wish.kind === "missing" ? waiting(seen, wish.reason, wish.message) : undefined;
}

/** It is installed in another cluster than the one that its spec names by now. */
function isElsewhere({ release, cluster }: ReleaseSeen): boolean {
  const installedIn = release.status?.cluster;
  return installedIn !== undefined && cluster.kind !== "absent" && cluster.name !== installedIn;
}

function elsewhereWords({ release }: ReleaseSeen): string {
  return `spec.clusterRef: it is installed in the cluster ${release.status?.cluster ?? ""}, and stays there. Name that one again, or delete this object and make another.`;
}

/** Nothing is open: what was last installed is compared with what should be. */
function toward(seen: ReleaseSeen, wish: ReleaseWish | ManifestsWish): ReleaseDecision {
  const { release, health } = seen;
  const { status } = release;
  const back = isManifestsWish(wish) ? undefined : openRollback(release);
  if (back !== undefined) return attempt(seen, { task: "rollback", inputs: wish.inputs, revision: back }, wish.release);
  const isThere = status?.inputs === wish.inputs || isHeldBack(release, wish);
  const isAgain = status?.inputs === wish.inputs && isToReapply(seen);
  const isRepeated = isAgain || (isManifestsWish(wish) && status?.failedInputs === wish.inputs);
  // What Helm does not know any more is installed anew.
  if (!isThere || health?.kind === "gone" || isRepeated) {
    const decision = attempt(seen, { task: "apply", inputs: wish.inputs }, wish.release);
    return isAgain ? quietly(seen, decision) : decision;
  }
  if (isManifestsWish(wish)) return installed(seen);
  const beyond = isHeldBack(release, wish) ? undefined : driftToRevert(release);
  if (beyond !== undefined) return attempt(seen, { task: "apply", inputs: wish.inputs, beyond }, wish.release);
  const due = driftDueIn(release, seen.now);
  const settled = (due !== undefined && due <= 0 ? inspection(seen) : undefined) ?? installed(seen);
  const { requeueAfterMs = WAIT_MS } = settled;
  return due === undefined || due <= 0 ? settled : { ...settled, requeueAfterMs: Math.min(requeueAfterMs, due) };
}

/** Compares what runs with what was deployed, when there is room. Nothing waits for it, and Ready stays as it is. */
function inspection(seen: ReleaseSeen): ReleaseDecision | undefined {
  const { release, now } = seen;
  // While something is not ready it is compared, too: what others changed may be why.
  const reason = findCondition(release.status?.conditions, "Ready")?.reason;
  const isSettled = reason === "Installed" || reason === "WorkloadsNotReady";
  if (!isSettled || seen.cluster.kind !== "present" || waitsForTurn(seen, taskTimeoutMs(release)) !== undefined) return undefined;
  const id = addonRunId(release.metadata.uid ?? "", "inspect", rfc3339(now));
  const run: AddonRun = { name: addonRunName(id), id, task: "inspect", ...timesOfRun(now, taskTimeoutMs(release)) };
  const begun = acting(seen, { kind: "begin", run });
  return { ...begun, fields: { ...begun.fields, run }, requeueAfterMs: LOOK_MS };
}

function afterInspection(seen: ReleaseSeen, run: AddonRun): ReleaseDecision {
  const { release, now } = seen;
  const state: AddonRunState = seen.run ?? { kind: "absent" };
  const over = (drift: AddonDrift, news: readonly ReleaseNews[] = []): ReleaseDecision => ({
    ...acting(seen, { kind: "none" }, news),
    fields: { ...fieldsOf(release), run: undefined, drift },
    requeueAfterMs: 0,
  });
  if (state.kind === "ended") {
    if (state.result?.kind !== "inspected") {
      const why = state.result?.kind === "failed" ? failureOf(state.result).message : `The run ${run.name} ended without a result.`;
      return over(unknownDrift(release, why, now));
    }
    const drift = inspectedDrift(release, state.result, now);
    const isKnown = drift.objects?.join() === release.status?.drift?.objects?.join();
    return over(drift, drift.total === 0 || isKnown ? [] : [{ reason: "AddonDrifted", note: driftWords(drift) }]);
  }
  if (isLate(run, seen.now, taskTimeoutMs(seen.release)))
    return over(unknownDrift(release, `The run ${run.name} did not end in its time.`, now));
  if (state.kind === "absent" && seen.cluster.kind !== "present")
    return over(unknownDrift(release, unstartable(seen.cluster).message, now));
  return { ...acting(seen, startOf(seen, run, state)), requeueAfterMs: LOOK_MS };
}

/** What a run is for. */
type Errand = Pick<AddonRun, "task" | "inputs" | "revision" | "beyond">;

/** Begins a run where nothing is in its way, and its turn has come. */
function attempt(seen: ReleaseSeen, errand: Errand, helmName: ReleaseWish["release"]): ReleaseDecision {
  const { release, now } = seen;
  const status: TalosClusterAddonReleaseStatus = release.status ?? {};
  const isSame = status.failedInputs === triedBy(errand);
  const nextAt = isSame ? Date.parse(status.nextAttemptTime ?? "") : Number.NaN;
  // A clock that was set back must not make it wait for longer than it would have.
  if (now < nextAt && nextAt - now <= HOPELESS_RETRY_MS) {
    const { reason, message } = findCondition(status.conditions, "Ready") ?? {
      reason: "Installing",
      message: "The next try is waited for.",
    };
    return waiting(seen, reason as ReadyReason, message, nextAt - now);
  }
  if (seen.cluster.kind === "paused") return waiting(seen, "WaitingForCluster", seen.cluster.message);
  if (!hasOurFinalizer(release)) return acting(seen, { kind: "add-finalizer" });
  const turn = waitsForTurn(seen, taskTimeoutMs(release));
  if (turn !== undefined) return waiting(seen, "Installing", turn, LOOK_MS);
  return begin(seen, errand, helmName, isSame ? (status.attempts ?? 0) : 0);
}

function begin(seen: ReleaseSeen, errand: Errand, { name, namespace }: ReleaseWish["release"], attempts: number): ReleaseDecision {
  const { release, now } = seen;
  const { uid = "", generation = 0 } = release.metadata;
  const status: TalosClusterAddonReleaseStatus = release.status ?? {};
  const tried = triedBy(errand);
  // The last run is part of it: the same inputs may be installed, left and come back.
  const id = addonRunId(uid, errand.task, `${generation}/${tried ?? ""}/${attempts}/${status.endedRuns?.at(-1) ?? ""}`);
  const run: AddonRun = { name: addonRunName(id), id, ...errand, ...timesOfRun(now, taskTimeoutMs(release)) };
  const message = `${doing(errand, release)} ${namespace}/${name}${attempts === 0 ? "" : `, try ${attempts + 1}`}, by the run ${run.name}.`;
  return busy(
    seen,
    "Installing",
    message,
    { kind: "begin", run },
    {
      run,
      nextAttemptTime: undefined,
      releaseName: name,
      releaseNamespace: namespace,
      ...(seen.cluster.kind === "present" ? { cluster: seen.cluster.name } : {}),
      ...(tried === undefined || status.failedInputs === tried ? {} : { failedInputs: undefined, attempts: undefined }),
      ...(isManifestsRelease(release) ? { manifests: { ...status.manifests, inventory: inventoryOf(release) } } : {}),
    },
  );
}

function doing({ task, revision }: Errand, release: TalosClusterAddonRelease): string {
  if (task === "rollback") return `Going back to revision ${revision ?? 0} of`;
  if (task === "uninstall") return "Uninstalling";
  if (isManifestsRelease(release)) return "Applying";
  return release.status?.revision === undefined ? "Installing" : "Upgrading";
}

/** The newest revision is what should be. */
function installed(seen: ReleaseSeen): ReleaseDecision {
  const { release, health } = seen;
  const { status } = release;
  const isHeld = seen.wish.kind === "there" && isHeldBack(release, seen.wish.wish);
  const held = isHeld ? ", which a person went back to; an edit of the spec installs what it asks for" : "";
  const words = isManifestsRelease(release)
    ? appliedWordsOf(release)
    : `${status?.chart?.name ?? "The chart"} ${status?.chart?.version ?? ""} is deployed as revision ${status?.revision ?? 0}${held}`;
  const fields = { ...untried, rolledBack: rememberedRollback(release) };
  const told = findCondition(status?.conditions, "Ready");
  const isLooking = health?.kind === "looking";
  if (health === undefined || health.kind === "gone" || isLooking) {
    const isKnown =
      told?.reason === "Installed" || told?.reason === "WorkloadsNotReady" || (isLooking && told?.reason === "ClusterNotReachable");
    const requeueAfterMs = isLooking ? health.lookAgainMs : health === undefined ? WAIT_MS : 0;
    if (isKnown) return waiting(seen, told.reason, told.message, requeueAfterMs, fields);
    return isLooking
      ? waiting(seen, "Installing", `${words}. What it runs is being looked at.`, requeueAfterMs, fields)
      : waiting(seen, "Installed", `${words}.`, requeueAfterMs, fields);
  }
  if (health.kind === "unreachable") return waiting(seen, "ClusterNotReachable", `${words}. ${health.message}`, health.lookAgainMs, fields);
  const [waits] = health.waiting;
  const others = health.waiting.length > 1 ? `, and ${health.waiting.length - 1} more` : "";
  const known = { ...fields, readyWorkloads: health.ready };
  return waits === undefined
    ? waiting(seen, "Installed", `${words}.`, health.lookAgainMs, known)
    : waiting(seen, "WorkloadsNotReady", `${words}. Waiting for ${waits}${others}.`, health.lookAgainMs, known);
}

// --- while something runs

function afterRun(seen: ReleaseSeen, run: AddonRun): ReleaseDecision {
  const state: AddonRunState = seen.run ?? { kind: "absent" };
  if (state.kind === "ended") return ending(seen, run, state.result);
  if (isLate(run, seen.now, taskTimeoutMs(seen.release))) {
    const why = state.kind === "waiting" ? `did not begin: ${state.why}` : "did not end in its time";
    return endOfTry(seen, run, clientFailed(run, why));
  }
  // Nobody has started it, and the spec was edited: what it would install now is not what it was begun for.
  if (state.kind === "absent" && isOfAnEarlierSpec(seen, run))
    return waiting(seen, "Installing", "The spec was edited: what it asks for is begun anew.", 0, ended(seen.release, run));
  // Nobody has started it, and by now nobody can: it is begun anew when it can be.
  if (state.kind === "absent" && seen.cluster.kind !== "present") return endOfTry(seen, run, unstartable(seen.cluster));
  const waits =
    state.kind === "waiting" ? ` It waits: ${state.why}.` : seen.wish.kind === "missing" ? ` It cannot begin: ${seen.wish.message}` : "";
  const who = isManifestsRelease(seen.release) ? "The worker" : "Helm";
  return busy(seen, "Installing", `${who} is at work, by the run ${run.name}.${waits}`, startOf(seen, run, state));
}

/** A run that nobody has started begins when there is room. */
export function startOf({ othersRunning }: ReleaseSeen, run: AddonRun, { kind }: AddonRunState): ReleaseAct {
  return kind === "absent" && othersRunning < RUNS_AT_ONCE ? { kind: "start", run } : { kind: "none" };
}

function isOfAnEarlierSpec({ wish }: ReleaseSeen, { task, inputs }: AddonRun): boolean {
  return task === "apply" && wish.kind === "there" && wish.wish.inputs !== inputs;
}

function unstartable(cluster: SeenCluster): Failure {
  const message =
    cluster.kind === "absent" || cluster.kind === "waiting" || cluster.kind === "paused"
      ? cluster.message
      : `The cluster ${cluster.name} is being deleted.`;
  return { reason: "WaitingForCluster", message, mayRepeat: true };
}

/** How long a worker may work. Milliseconds. */
export function taskTimeoutMs(release: TalosClusterAddonRelease): number {
  const { spec } = release;
  if (isManifestsRelease(release)) return MANIFESTS_MS;
  const step = helmOptionsOf(spec.helmSpec?.options).timeoutMs ?? 0;
  // Hooks before and after, the objects in between, and the way back.
  return 3 * step + AROUND_HELM_MS;
}

function ending(seen: ReleaseSeen, run: AddonRun, result: AddonResult | undefined): ReleaseDecision {
  if (result === undefined) return endOfTry(seen, run, clientFailed(run, "ended without a result"));
  if (result.kind === "failed")
    return run.task === "rollback" && result.reason === "bad-task"
      ? unknownRevision(seen, run, failureOf(result))
      : endOfTry(seen, run, failureOf(result), result);
  if (result.kind === "manifests-failed") return endOfTry(seen, run, failureOfManifests(result));
  if (result.kind === "applied" && run.task === "apply") return applied(seen, run, result);
  if (result.kind === "rolled-back" && run.task === "rollback") return rolledBack(seen, run, result);
  if (result.kind === "manifests-applied" && run.task === "apply") return manifestsApplied(seen, run, result);
  return endOfTry(seen, run, clientFailed(run, "told a result of another task"));
}

function clientFailed({ name }: AddonRun, why: string): Failure {
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

/** No try is waited for, and none counts. */
const untried = { failedInputs: undefined, attempts: undefined, nextAttemptTime: undefined } as const;

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

function endOfTry(seen: ReleaseSeen, run: AddonRun, failure: Failure, told?: HelmFailed): ReleaseDecision {
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

function ended({ status }: TalosClusterAddonRelease, run: AddonRun): ReleaseFields {
  return { run: undefined, endedRuns: [...(status?.endedRuns ?? []), run.id].slice(-REMEMBERED_RUNS) };
}

function revisionField({ number, status, chartVersion, appVersion, at }: Revision): AddonRevision {
  return { revision: number, status, chartVersion, ...(appVersion === undefined ? {} : { appVersion }), deployedAt: rfc3339(at) };
}

// --- deletion

function decideDeletion(seen: ReleaseSeen): ReleaseDecision {
  const { release, cluster, now } = seen;
  const status: TalosClusterAddonReleaseStatus = release.status ?? {};
  if (!hasOurFinalizer(release)) return acting(seen, { kind: "none" });
  const { releaseName, releaseNamespace, run } = status;
  // Nothing was ever begun.
  if (releaseName === undefined || releaseNamespace === undefined) return acting(seen, { kind: "remove-finalizer" });
  const name = `${releaseNamespace}/${releaseName}`;
  const letGo = (reason: ReleaseNews["reason"], note: string): ReleaseDecision =>
    acting(seen, { kind: "remove-finalizer" }, [{ reason, note }]);
  const told = run?.task === "uninstall" && seen.run?.kind === "ended" ? seen.run.result : undefined;
  if (told?.kind === "uninstalled") return letGo("AddonUninstalled", `${name} is uninstalled.`);
  if (told?.kind === "manifests-removed")
    return letGo("AddonUninstalled", `${told.deleted} objects of ${name} are deleted${keptWords(told.kept)}.`);
  // Who asks another cluster would find nothing there.
  if (isElsewhere(seen))
    return letGo("AddonLeft", `${name} is left as it is in the cluster ${status.cluster ?? ""}: spec.clusterRef names another one.`);
  // When the cluster goes, nothing is uninstalled: its machines are wiped.
  if (cluster.kind === "absent" || cluster.kind === "going")
    return letGo("AddonLeft", `${name} is left as it is: the cluster is gone, or going.`);
  // A person holds it up, and may let it go on at any time.
  if (cluster.kind === "paused" && run?.task !== "uninstall")
    return waiting(seen, "Deleting", cluster.message, WAIT_MS, { uninstallStartTime: undefined });
  const since = Date.parse(status.uninstallStartTime ?? "");
  // A clock that was set back must not make it wait for longer than it would have.
  if (Number.isNaN(since) || since > now) return waiting(seen, "Deleting", "It is uninstalled.", 0, { uninstallStartTime: rfc3339(now) });
  if (now - since >= REMOVAL_MS)
    return letGo("AddonLeft", `${name} is left as it is: it could not be uninstalled in ten minutes. ${lastWords(release)}`.trim());
  // What was begun is not waited for: its lock is released by the run that uninstalls.
  if (run !== undefined && run.task !== "uninstall")
    return waiting(seen, "Deleting", "What was being installed is ended first.", 0, { ...ended(release, run), ...untried });
  if (run !== undefined) return afterUninstall(seen, run);
  // Tries to install count no longer.
  if (status.failedInputs !== undefined) return waiting(seen, "Deleting", "It is uninstalled.", 0, untried);
  const nextAt = Date.parse(status.nextAttemptTime ?? "");
  if (now < nextAt && nextAt - now <= HOPELESS_RETRY_MS)
    return waiting(seen, "Deleting", lastWords(release), Math.min(nextAt - now, since + REMOVAL_MS - now));
  if (cluster.kind === "waiting") return waiting(seen, "Deleting", cluster.message);
  if (seen.withoutHelm !== undefined) return waiting(seen, "Deleting", seen.withoutHelm);
  // It ends soon, or is given up.
  const turn = waitsForTurn(seen, REMOVAL_MS);
  if (turn !== undefined) return waiting(seen, "Deleting", turn, LOOK_MS);
  return begin(seen, { task: "uninstall" }, { name: releaseName, namespace: releaseNamespace }, status.attempts ?? 0);
}

function afterUninstall(seen: ReleaseSeen, run: AddonRun): ReleaseDecision {
  const state: AddonRunState = seen.run ?? { kind: "absent" };
  if (state.kind === "ended") {
    const { result } = state;
    const failure: Failure =
      result?.kind === "failed"
        ? failureOf(result)
        : result?.kind === "manifests-failed"
          ? failureOfManifests(result)
          : clientFailed(run, "ended without a result");
    const decision = endOfTry(seen, run, { ...failure, mayRepeat: true });
    return { ...decision, conditions: conditionsOf(seen, "Deleting", failure.message) };
  }
  const waits = state.kind === "waiting" ? ` It waits: ${state.why}.` : "";
  return busy(seen, "Deleting", `Uninstalling, by the run ${run.name}.${waits}`, startOf(seen, run, state));
}

function lastWords({ status }: TalosClusterAddonRelease): string {
  return findCondition(status?.conditions, "Ready")?.message ?? "";
}

// --- shared

function acting(seen: ReleaseSeen, act: ReleaseAct, news: readonly ReleaseNews[] = []): ReleaseDecision {
  const ready = findCondition(seen.release.status?.conditions, "Ready");
  return saying(seen, (ready?.reason ?? "Installing") as ReadyReason, ready?.message ?? "It is being looked at.", {}, { act, news });
}

function waiting(
  seen: ReleaseSeen,
  reason: ReadyReason,
  message: string,
  requeueAfterMs = WAIT_MS,
  over: ReleaseFields = {},
): ReleaseDecision {
  return saying(seen, reason, message, over, { requeueAfterMs });
}

/** A run that is at work, or about to be. */
function busy(seen: ReleaseSeen, reason: ReadyReason, message: string, act: ReleaseAct, over: ReleaseFields = {}): ReleaseDecision {
  return saying(seen, reason, message, over, { act, isBusy: true, requeueAfterMs: LOOK_MS });
}

/** A run that is over, and what it left is looked at in the next pass. */
function over(seen: ReleaseSeen, run: AddonRun, words: string, fields: ReleaseFields, news: readonly ReleaseNews[]): ReleaseDecision {
  const all = { ...ended(seen.release, run), ...untried, ...fields };
  return saying(seen, "Installing", `${words} What it runs is being looked at.`, all, { news, requeueAfterMs: 0 });
}

/** @param over fields of the status that become others */
function saying(
  seen: ReleaseSeen,
  reason: ReadyReason,
  message: string,
  over: ReleaseFields,
  more: Partial<Omit<ReleaseDecision, "fields" | "conditions">>,
): ReleaseDecision {
  const fields = { ...fieldsOf(seen.release), ...over };
  return { act: { kind: "none" }, fields, conditions: conditionsOf(seen, reason, message), isBusy: false, news: [], ...more };
}

/** Ready, and what the spec asks for that has no effect. */
function conditionsOf(seen: ReleaseSeen, reason: ReadyReason, message: string): readonly ConditionInput[] {
  const { metadata, spec } = seen.release;
  const { generation } = metadata;
  const idle = spec.helmSpec === undefined ? [] : idleHelmFields(spec.helmSpec);
  const isSetSyntax = seen.wish.kind === "there" && seen.wish.isSetSyntax;
  const drift = driftCondition(seen.release);
  const problem = rollbackProblem(seen.release);
  const notes = [
    ...(problem === undefined ? [] : [problem]),
    ...(idle.length === 0 ? [] : [`Set and without effect: ${idle.join(", ")}.`]),
    ...(isSetSyntax ? ["spec.helmSpec.valuesTemplate has the form a=b,c=d and is read as helm --set reads it; write YAML instead."] : []),
  ];
  const isLeft = metadata.annotations?.[annotations.addonNotSelected] !== undefined;
  return [
    conditionFor("Ready", reason, message, generation),
    ...(drift === undefined ? [] : [drift]),
    ...(isLeft
      ? [
          conditionFor(
            "NoLongerSelected",
            "ClusterNotSelected",
            "The addon does not select this cluster any more; the release stays as it is.",
            generation,
          ),
        ]
      : []),
    ...(notes.length === 0 ? [] : [conditionFor("FieldNotSupported", "FieldNotSupported", notes.join(" "), generation)]),
  ];
}

function fieldsOf(release: TalosClusterAddonRelease): ReleaseFields {
  const { conditions: _kept, observedGeneration: _generation, ...fields } = release.status ?? {};
  return { ...fields, drift: keptDrift(release), preview: undefined };
}
