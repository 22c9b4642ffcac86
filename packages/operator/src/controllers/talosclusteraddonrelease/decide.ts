import { findCondition, findingsMessage, rfc3339 } from "@talos-operator/api";
import { addonRunId, addonRunName } from "../../addons/runner.ts";
import { waitsFor } from "./dependencies.ts";
import { failureOf } from "./failures.ts";
import { driftDueIn, driftToRevert, driftWords, inspectedDrift, unknownDrift } from "./drift.ts";
import { isHeldBack, openRollback, rememberedRollback } from "./rollback.ts";
import { waitsForTurn } from "./turns.ts";
import { isLate, timesOfRun } from "./time-of-run.ts";
import { appliedWordsOf, isManifestsRelease, isManifestsWish, isReapplying, isToReapply, quietly, wasInstalled } from "./manifests.ts";
import { attempt, startOf, taskTimeoutMs } from "./begin.ts";
import { decideDeletion } from "./deletion.ts";
import { clientFailed, endOfTry, ending } from "./end-of-run.ts";
import { elsewhereWords, isElsewhere } from "./phase.ts";
import { acting, busy, ended, fieldsOf, untried, waiting } from "./saying.ts";
import { LOOK_MS, WAIT_MS } from "./times.ts";
import type { AddonDrift, AddonRun } from "@talos-operator/api";
import type { AddonRunState } from "../../addons/runner.ts";
import type { ManifestsWish } from "../../addons/manifests-wish.ts";
import type { ReleaseWish } from "../../addons/wish.ts";
import type { Failure } from "./failures.ts";
import type { ReleaseDecision, ReleaseNews, ReleaseSeen, SeenCluster } from "./model.ts";

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
