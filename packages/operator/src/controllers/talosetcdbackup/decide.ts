import {
  annotations,
  conditionFor,
  durationMs,
  finalizers,
  findingsMessage,
  findCondition,
  isConditionTrue,
  rfc3339,
} from "@talos-operator/api";
import type {
  BackupRun,
  ConditionInput,
  EventReason,
  Finding,
  ReadyReason,
  ReasonOf,
  TalosEtcdBackup,
  TalosEtcdBackupStatus,
} from "@talos-operator/api";
import type { ProveResult, TakeResult, TaskResult } from "@talos-operator/backup";
import { runName } from "../../backups/runner.ts";
import type { BackupRunState, RunTask } from "../../backups/runner.ts";
import { BEGINS_WITHIN_MS, runId } from "../../workers/runner.ts";
import type { EndedRun } from "../../metrics/backup-figures.ts";
import type { BackupSources, BackupVoter } from "../../assess/backup-sources.ts";
import type { RecordClaims } from "./claim.ts";
import { backupConditions, proofField, provedCondition } from "./conditions.ts";
import { failureOf, inconsistency } from "./failures.ts";
import type { Failure } from "./failures.ts";
import { placeWords } from "./place.ts";
import { slotOf } from "./slot.ts";

/** Tries of one backup. */
const TRIES = 3;

/** Between one try and the next. Milliseconds. */
const RETRY_MS = [30_000, 120_000] as const;

/** Workers of all backups at once. */
export const RUNS_AT_ONCE = 2;

/** How long a snapshot waits for a control plane that is being disturbed. Milliseconds. */
const DISRUPTION_WAIT_MS = 10 * 60_000;

/** How long a deletion tries to remove what is stored, from its first moment on. Milliseconds. */
const REMOVAL_MS = 10 * 60_000;

/** A proof that could not be tried is tried again after this. Milliseconds. */
const PROOF_RETRY_MS = 10 * 60_000;

/** How long a run that removes objects may take. Milliseconds. */
const REMOVE_TIMEOUT_MS = 5 * 60_000;

/** How often a run is looked at, and what is waited for. Milliseconds. */
const LOOK_MS = 2_000;
const WAIT_MS = 10_000;

/** The cluster that a backup is of. */
export type SeenCluster =
  | { readonly kind: "absent"; readonly message: string }
  /** This process has not looked at it yet. */
  | { readonly kind: "not-looked"; readonly name: string }
  | { readonly kind: "present"; readonly name: string; readonly sources: BackupSources; readonly claims: RecordClaims };

/** What a run needs beside what the cluster shows: asked for only when one is about to begin. */
export type Needs =
  | { readonly kind: "not-asked" }
  | { readonly kind: "there" }
  | { readonly kind: "missing"; readonly reason: ReadyReason; readonly message: string };

/** Everything that one pass over a backup looks at. */
export interface BackupSeen {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly backup: TalosEtcdBackup;
  readonly problems: readonly Finding[];
  /** Its namespace is going away. */
  readonly isTerminating: boolean;
  readonly cluster: SeenCluster;
  readonly needs: Needs;
  /** The run that status names; `undefined` where it names none. */
  readonly run: BackupRunState | undefined;
  /** Runs of other backups that are not ended. */
  readonly othersRunning: number;
  /** Since when it waits for a disruption, as this process knows it. */
  readonly waitingSince: number | undefined;
}

/** What is done, at most one thing in a pass. */
export type BackupAct =
  | { readonly kind: "none" }
  | { readonly kind: "add-finalizer" }
  | { readonly kind: "remove-finalizer" }
  /** Claim the cluster where the task is `take`, say it in the status, start. */
  | { readonly kind: "begin"; readonly run: BackupRun }
  /** Status names it, and nobody has started it, or nobody knows it any more. */
  | { readonly kind: "start"; readonly run: BackupRun }
  /** The object, whose time is over. */
  | { readonly kind: "delete" };

/** Something for people, once the status is stored. */
export interface BackupNews {
  readonly reason: EventReason;
  readonly note: string;
}

/** `status` without its conditions; `undefined` takes a field away. */
export type BackupFields = { readonly [K in keyof Omit<TalosEtcdBackupStatus, "conditions">]?: TalosEtcdBackupStatus[K] | undefined };

/** What a pass does and says. A run that the status does not name any more is ended, and its claim released, by every pass. */
export interface BackupDecision {
  readonly act: BackupAct;
  readonly fields: BackupFields;
  readonly conditions: readonly ConditionInput[];
  /** A run goes on, or is about to. */
  readonly isBusy: boolean;
  readonly news: readonly BackupNews[];
  readonly waitsForDisruption: boolean;
  readonly requeueAfterMs?: number;
  /** A run that is over by this pass, for the figures. */
  readonly ended?: EndedRun;
  /** It was due and could not begin in time. */
  readonly isMissed?: boolean;
}

/** How long a take or a prove may work. Milliseconds. */
export function taskTimeoutMs({ spec }: TalosEtcdBackup, task: RunTask): number {
  return task === "remove" ? REMOVE_TIMEOUT_MS : (durationMs(spec.timeout ?? "1h") ?? 3_600_000);
}

/** Decides about one backup. Pure. `undefined` = it is left as it is: another operator finished it. */
export function decideBackup(seen: BackupSeen): BackupDecision | undefined {
  const { backup } = seen;
  const { status } = backup;
  if (backup.metadata.deletionTimestamp !== undefined) return decideDeletion(seen);
  if (isOfOthers(status)) return hasOurFinalizer(backup) ? acting(seen, { kind: "remove-finalizer" }) : undefined;
  const wantsFinalizer = backup.spec.deletionPolicy === "delete";
  if (wantsFinalizer !== hasOurFinalizer(backup) && !seen.isTerminating)
    return acting(seen, { kind: wantsFinalizer ? "add-finalizer" : "remove-finalizer" });
  if (status?.run !== undefined) return afterRun(seen, status.run);
  if (isStored(status)) return afterSuccess(seen);
  if (hasFailed(status)) return afterFailure(seen);
  return beforeTake(seen);
}

/** Another operator of these kinds finished it: no status of ours names a slot. It is neither repeated nor removed. */
function isOfOthers(status: TalosEtcdBackupStatus | undefined): boolean {
  const isFinished =
    (status?.filename ?? "") !== "" || isConditionTrue(status?.conditions, "Ready") || isConditionTrue(status?.conditions, "Failed");
  return status?.slot === undefined && isFinished;
}

/** Its manifest was read back. */
export function isStored(status: TalosEtcdBackupStatus | undefined): boolean {
  return status?.slot !== undefined && status.filename !== undefined;
}

/** It ended without success. */
export function hasFailed(status: TalosEtcdBackupStatus | undefined): boolean {
  return status?.slot !== undefined && !isStored(status) && status.run === undefined && isConditionTrue(status.conditions, "Failed");
}

function hasOurFinalizer({ metadata }: TalosEtcdBackup): boolean {
  return metadata.finalizers?.includes(finalizers.talosEtcdBackup) === true;
}

// --- before it is taken

function beforeTake(seen: BackupSeen): BackupDecision {
  const { backup, now, cluster, needs, problems } = seen;
  const { status } = backup;
  const attempts = status?.attempts ?? 0;
  const [problem] = problems;
  if (seen.isTerminating) return waiting(seen, "NamespaceTerminating", "The namespace is going away: no backup is begun.");
  if (problem !== undefined) return waiting(seen, problem.reason, findingsMessage(problems));
  const nextAt = Date.parse(status?.nextAttemptTime ?? "");
  // A clock that was set back must not make it wait for longer than it would have.
  if (now < nextAt && nextAt - now <= RETRY_MS[1]) {
    const ready = findCondition(status?.conditions, "Ready");
    const { reason, message } = ready ?? { reason: "BackupInProgress", message: "The next try is waited for." };
    return waiting(seen, reason as ReadyReason, message, nextAt - now);
  }
  if (cluster.kind === "absent") return waiting(seen, "ControlPlaneNotFound", cluster.message);
  if (cluster.kind === "not-looked")
    return waiting(seen, "BackupInProgress", `The control planes of ${cluster.name} are being looked at.`, LOOK_MS);
  const { sources, claims } = cluster;
  if (claims.disrupted !== undefined) return waitForDisruption(seen, claims.disrupted);
  const id = runId(backup.metadata.uid ?? "", "take", `${attempts + 1}`);
  const other = claims.snapshot;
  if (other !== undefined && other.run !== runName(id))
    return waiting(
      seen,
      "WaitingForTurn",
      `TalosEtcdBackup ${other.backup.namespace}/${other.backup.name} of this cluster is being taken.`,
    );
  if (seen.othersRunning >= RUNS_AT_ONCE)
    return waiting(seen, "WaitingForTurn", `${seen.othersRunning} backups are being worked on, as many as may at once.`);
  const source = sourceFor(sources, attempts);
  if (source === undefined)
    return waiting(
      seen,
      "SourceUnreachable",
      `No healthy voter of etcd answers${sources.others.length === 0 ? "" : `; without one: ${sources.others.join(", ")}`}.`,
    );
  if (needs.kind === "missing") return waiting(seen, needs.reason, needs.message);
  const run: BackupRun = {
    name: runName(id),
    attempt: id,
    task: "take",
    startedAt: rfc3339(now),
    source: { machine: source.machine, memberId: source.memberId },
  };
  const message = `Try ${attempts + 1} of ${TRIES}: a snapshot is taken from ${source.machine}.`;
  const fields = {
    run,
    attempts: attempts + 1,
    nextAttemptTime: undefined,
    controlPlane: cluster.name,
    clusterId: sources.clusterId,
    takenGeneration: backup.metadata.generation,
    place: placeWords(backup.spec.backupStorage),
  };
  const news = [{ reason: "BackupStarted", note: `${message} Run ${run.name}.` }] as const;
  const begun = { act: { kind: "begin", run }, isBusy: true, news, requeueAfterMs: LOOK_MS } as const;
  return saying(seen, inProgress(seen, "BackupInProgress", message), fields, begun);
}

/** Another voter after each failed try; the leader last. */
function sourceFor({ voters }: BackupSources, attempts: number): BackupVoter | undefined {
  return voters[attempts % Math.max(1, voters.length)];
}

function waitForDisruption(seen: BackupSeen, machine: string): BackupDecision {
  const { waitingSince = seen.now, now, backup } = seen;
  if (now - waitingSince < DISRUPTION_WAIT_MS)
    return {
      ...waiting(seen, "WaitingForDisruption", `${machine} is being changed or removed: the snapshot waits for that, ten minutes at most.`),
      waitsForDisruption: true,
    };
  const message = `${machine} was being changed or removed for ten minutes, and the snapshot waits no longer.`;
  return { ...failed(seen, message, backup.status?.attempts ?? 0), isMissed: true };
}

function waiting(seen: BackupSeen, reason: ReadyReason, message: string, requeueAfterMs = WAIT_MS): BackupDecision {
  return saying(seen, inProgress(seen, reason, message), {}, { requeueAfterMs });
}

function failed(seen: BackupSeen, message: string, attempts: number): BackupDecision {
  const conditions = backupConditions(seen.backup, "BackupFailed", { reason: "BackupFailed", message });
  return saying(
    seen,
    conditions,
    { run: undefined, nextAttemptTime: undefined, attempts },
    { news: [{ reason: "BackupFailed", note: message }] },
  );
}

// --- while something runs

function afterRun(seen: BackupSeen, run: BackupRun): BackupDecision {
  const state = seen.run ?? { kind: "absent" };
  const isLate = seen.now >= Date.parse(run.startedAt) + taskTimeoutMs(seen.backup, run.task) + BEGINS_WITHIN_MS;
  if (state.kind !== "ended") {
    if (isLate) return ending(seen, run, lateWords(run, state));
    return running(seen, run, state);
  }
  return ending(seen, run, state.result ?? lost(run));
}

const lost = (run: BackupRun): Failure => ({
  reason: "WorkerFailed",
  message: `The run ${run.name} ended without a result.`,
  mayRepeat: true,
});

function lateWords(run: BackupRun, state: BackupRunState): Failure {
  const why = state.kind === "waiting" ? `did not begin: ${state.why}` : "did not end in its time";
  return { reason: "WorkerFailed", message: `The run ${run.name} ${why}.`, mayRepeat: true };
}

function running(seen: BackupSeen, run: BackupRun, state: BackupRunState): BackupDecision {
  const { cluster, needs } = seen;
  const isTake = run.task === "take";
  const isUnknown = state.kind === "absent" && isTake && cluster.kind === "not-looked";
  if (state.kind === "absent" && isTake && !isUnknown && !hasSource(cluster, run))
    return endOfTry(seen, run, {
      reason: "SourceUnreachable",
      message: `${run.source?.machine ?? "The control plane"} is no healthy voter any more.`,
      mayRepeat: true,
    });
  const waits =
    state.kind === "waiting" ? ` It waits: ${state.why}.` : needs.kind === "missing" ? ` It cannot begin: ${needs.message}` : "";
  const what = isTake ? `A snapshot is taken from ${run.source?.machine ?? "a control plane"}` : "What is stored is proved";
  const message = `${what}, by the run ${run.name}.${waits}`;
  const act: BackupAct = isUnknown ? { kind: "none" } : startOf(seen, run, state);
  const conditions = isTake ? inProgress(seen, "BackupInProgress", message) : succeeded(seen);
  return saying(seen, conditions, {}, { act, isBusy: isTake, requeueAfterMs: LOOK_MS });
}

/** A run that nobody has started begins when there is room: also one that was ended before its end was written down, while others took its turn. */
function startOf({ othersRunning }: BackupSeen, run: BackupRun, { kind }: BackupRunState): BackupAct {
  return kind === "absent" && othersRunning < RUNS_AT_ONCE ? { kind: "start", run } : { kind: "none" };
}

function hasSource(cluster: SeenCluster, { source }: BackupRun): boolean {
  return (
    cluster.kind === "present" &&
    cluster.sources.voters.some(({ machine, memberId }) => machine === source?.machine && memberId === source.memberId)
  );
}

function ending(seen: BackupSeen, run: BackupRun, end: TaskResult | Failure): BackupDecision {
  if (run.task === "prove") return endOfProof(seen, run, end);
  if ("kind" in end) {
    if (end.kind === "taken") {
      const wrong = inconsistency(end.facts, slotOf(seen.backup), run.attempt, end.found);
      if (wrong === undefined) return taken(seen, run, end);
      return endOfTry(seen, run, {
        reason: "WorkerFailed",
        message: `The result of the run ${run.name} is not to be believed: ${wrong}.`,
        mayRepeat: true,
      });
    }
    if (end.kind === "failed") return endOfTry(seen, run, failureOf(end));
    return endOfTry(seen, run, { ...lost(run), message: `The run ${run.name} told a result of another task.` });
  }
  return endOfTry(seen, run, end);
}

function endedRun({ now, run: state }: BackupSeen, run: BackupRun, result: EndedRun["result"], reason: EndedRun["reason"]): EndedRun {
  const begun = Date.parse(run.startedAt);
  // A runner that does not know when says 0.
  const at = state?.kind === "ended" && state.at >= begun ? state.at : now;
  return { task: run.task, result, reason, tookMs: at - begun };
}

function endOfTry(seen: BackupSeen, run: BackupRun, { reason, message, mayRepeat }: Failure): BackupDecision {
  const attempts = seen.backup.status?.attempts ?? 1;
  const pauseMs = RETRY_MS[attempts - 1];
  const over = endedRun(seen, run, "failed", reason);
  if (!mayRepeat || attempts >= TRIES || pauseMs === undefined)
    return { ...failed(seen, attempts > 1 ? `Failed after ${attempts} tries. ${message}` : message, attempts), ended: over };
  const next = `Try ${attempts} of ${TRIES} failed: ${message}`;
  const fields = { run: undefined, nextAttemptTime: rfc3339(seen.now + pauseMs) };
  return saying(seen, inProgress(seen, reason, next), fields, { requeueAfterMs: pauseMs, ended: over });
}

function taken(seen: BackupSeen, run: BackupRun, { facts, proof }: TakeResult): BackupDecision {
  const { backup, now } = seen;
  const at = rfc3339(now);
  const { keysObject, storageVersion, talosVersion, kubernetesVersion } = facts;
  const message = successWords(facts.object, facts.revision, facts.totalKey);
  const { size, storedSize, sha256, storedSha256, revision, totalKey, liveKeys, source, encryption } = facts;
  const told = { size, storedSize, sha256, storedSha256, revision, totalKey, liveKeys, source, encryption };
  const fields = {
    run: undefined,
    nextAttemptTime: undefined,
    filename: facts.object,
    ...(keysObject === undefined ? {} : { stateFilename: keysObject }),
    ...told,
    ...(storageVersion === undefined ? {} : { storageVersion }),
    ...(talosVersion === undefined ? {} : { talosVersion }),
    ...(kubernetesVersion === undefined ? {} : { kubernetesVersion }),
    startTime: rfc3339(Date.parse(facts.startedAt)),
    completionTime: rfc3339(Date.parse(facts.endedAt)),
    proof: proofField(proof, at),
    lastProofTime: at,
  };
  const conditions = backupConditions(
    backup,
    "BackupSucceeded",
    { reason: "BackupSucceeded", message },
    provedCondition(proof, at, backup.metadata.generation),
  );
  const ended = endedRun(seen, run, "succeeded", "BackupSucceeded");
  return saying(seen, conditions, fields, { news: [{ reason: "BackupSucceeded", note: message }], requeueAfterMs: 0, ended });
}

function successWords(filename: string, revision: number, keys: number): string {
  return `Stored as ${filename} at revision ${revision} with ${keys} keys.`;
}

/** What a stored backup says of itself, from its own status. */
function succeeded({ backup }: BackupSeen, proved?: ConditionInput): readonly ConditionInput[] {
  const { filename = "", revision = 0, totalKey = 0 } = backup.status ?? {};
  return backupConditions(
    backup,
    "BackupSucceeded",
    { reason: "BackupSucceeded", message: successWords(filename, revision, totalKey) },
    proved,
  );
}

// --- after it ended

function afterFailure(seen: BackupSeen): BackupDecision {
  const message = findCondition(seen.backup.status?.conditions, "Ready")?.message ?? "The backup ended without success.";
  return { ...failed(seen, message, seen.backup.status?.attempts ?? 0), news: [], ...expiry(seen) };
}

function afterSuccess(seen: BackupSeen): BackupDecision {
  const { backup, now } = seen;
  const { status } = backup;
  const settled = saying(seen, succeeded(seen), {}, expiry(seen));
  const asked = backup.metadata.annotations?.[annotations.proveNow]?.slice(0, 256);
  if (asked === undefined || asked === status?.provedNow || settled.act.kind === "delete" || seen.isTerminating) return settled;
  const nextAt = Date.parse(status?.nextAttemptTime ?? "");
  if (now < nextAt && nextAt - now <= PROOF_RETRY_MS) return { ...settled, requeueAfterMs: nextAt - now };
  if (seen.othersRunning >= RUNS_AT_ONCE) return { ...settled, requeueAfterMs: WAIT_MS };
  if (seen.cluster.kind === "not-looked") return { ...settled, requeueAfterMs: LOOK_MS };
  if (seen.needs.kind === "missing") return notProved(seen, seen.needs.message);
  const id = proofId(backup, asked);
  const run: BackupRun = { name: runName(id), attempt: id, task: "prove", startedAt: rfc3339(now) };
  return { ...settled, act: { kind: "begin", run }, fields: { ...settled.fields, run }, requeueAfterMs: LOOK_MS };
}

function endOfProof(seen: BackupSeen, run: BackupRun, end: TaskResult | Failure): BackupDecision {
  const { backup, now } = seen;
  const at = rfc3339(now);
  const asked = backup.metadata.annotations?.[annotations.proveNow]?.slice(0, 256);
  // Another word that came while it ran asks for another proof.
  const isAnswered = asked !== undefined && proofId(backup, asked) === run.attempt;
  const over = { run: undefined, nextAttemptTime: undefined, lastProofTime: at, ...(isAnswered ? { provedNow: asked } : {}) };
  if ("kind" in end && end.kind === "proved") {
    const wrong = otherFacts(backup, end);
    if (wrong !== undefined) return proofFailed(seen, run, over, `What is stored is not what was recorded: ${wrong}.`);
    const condition = provedCondition(end.proof, at, backup.metadata.generation);
    return {
      ...proofDecision(seen, { ...over, proof: proofField(end.proof, at) }, condition),
      news: [{ reason: "BackupProved", note: condition.message }],
      ended: endedRun(seen, run, "succeeded", condition.reason as ReasonOf<"Proved">),
    };
  }
  if ("kind" in end && end.kind === "failed" && isAboutBytes(end)) return proofFailed(seen, run, over, end.message);
  const failure =
    "kind" in end ? (end.kind === "failed" ? failureOf(end) : { ...lost(run), message: "The run told a result of another task." }) : end;
  return { ...notProved(seen, failure.message), ended: endedRun(seen, run, "failed", failure.reason) };
}

/** One try of the proof that a word asked for. */
function proofId({ metadata, status }: TalosEtcdBackup, word: string): string {
  return runId(metadata.uid ?? "", "prove", `${word}@${status?.nextAttemptTime ?? ""}`);
}

function isAboutBytes({ reason }: Extract<TaskResult, { readonly kind: "failed" }>): boolean {
  return reason === "proof-failed" || reason === "backup-missing" || reason === "manifest-refused" || reason === "snapshot-damaged";
}

/** A manifest that was replaced by another good one of the cluster would prove something else. */
function otherFacts({ status }: TalosEtcdBackup, { facts }: ProveResult): string | undefined {
  if (facts.slot !== status?.slot || facts.object !== status.filename) return "its manifest names another object";
  if (facts.sha256 !== status.sha256 || facts.revision !== status.revision || facts.totalKey !== status.totalKey)
    return "its manifest has another checksum, revision or key count";
  return undefined;
}

function proofFailed(seen: BackupSeen, run: BackupRun, over: BackupFields, message: string): BackupDecision {
  const condition = conditionFor("Proved", "ProofFailed", message, seen.backup.metadata.generation);
  return {
    ...proofDecision(seen, { ...over, proof: undefined }, condition),
    news: [{ reason: "ProofFailed", note: message }],
    ended: endedRun(seen, run, "failed", "ProofFailed"),
  };
}

function notProved(seen: BackupSeen, message: string): BackupDecision {
  const condition = conditionFor("Proved", "ProofNotRun", message, seen.backup.metadata.generation);
  const nextAttemptTime = rfc3339(seen.now + PROOF_RETRY_MS);
  return { ...proofDecision(seen, { run: undefined, nextAttemptTime }, condition), requeueAfterMs: PROOF_RETRY_MS };
}

function proofDecision(seen: BackupSeen, over: BackupFields, proved: ConditionInput): BackupDecision {
  return saying(seen, succeeded(seen, proved), over, { requeueAfterMs: WAIT_MS });
}

/** `retention.keepFor` of the backup itself. */
function expiry({ backup, now }: BackupSeen): { readonly act?: BackupAct; readonly requeueAfterMs?: number } {
  const { keep, keepFor } = backup.spec.retention ?? {};
  const forMs = keepFor === undefined ? undefined : durationMs(keepFor);
  if (keep === true || forMs === undefined) return {};
  const endedAt = Date.parse(backup.status?.completionTime ?? findCondition(backup.status?.conditions, "Failed")?.lastTransitionTime ?? "");
  if (Number.isNaN(endedAt)) return {};
  const leftMs = endedAt + forMs - now;
  return leftMs <= 0 ? { act: { kind: "delete" } } : { requeueAfterMs: Math.min(leftMs, 3_600_000) };
}

// --- deletion

function decideDeletion(seen: BackupSeen): BackupDecision | undefined {
  const { backup, now, needs } = seen;
  const { status, metadata } = backup;
  if (!hasOurFinalizer(backup)) return undefined;
  const letGo = (news: readonly BackupNews[]): BackupDecision => ({
    ...deleting(seen, "RemovingBackup", "Nothing is left to do.", { run: undefined }),
    act: { kind: "remove-finalizer" },
    news,
  });
  const retained = (why: string): BackupDecision =>
    letGo([{ reason: "BackupRetained", note: `${status?.filename ?? ""} stays in the store: ${why}` }]);
  if (backup.spec.deletionPolicy !== "delete" || !isStored(status)) return letGo([]);
  if (seen.isTerminating) return retained("the namespace is going away.");
  if (now - Date.parse(metadata.deletionTimestamp ?? "") >= REMOVAL_MS) return retained("it could not be removed within ten minutes.");
  if (status?.run !== undefined && status.run.task !== "remove")
    return deleting(seen, "WaitingForRun", `The run ${status.run.name} is stopped.`, { run: undefined });
  if (status?.run !== undefined) {
    const state = seen.run ?? { kind: "absent" };
    if (state.kind !== "ended")
      return {
        ...deleting(seen, "RemovingBackup", `What is stored is being removed, by the run ${status.run.name}.`, {}),
        act: startOf(seen, status.run, state),
      };
    const { result } = state;
    if (result?.kind === "removed") {
      const ended = endedRun(seen, status.run, "succeeded", "Deleting");
      if (result.kept.length === 0)
        return { ...letGo([{ reason: "BackupRemoved", note: `${status.filename ?? ""} was removed from the store.` }]), ended };
      return { ...retained("the bucket keeps its bytes, by versions or object lock."), ended };
    }
    const failure = result?.kind === "failed" ? failureOf(result) : lost(status.run);
    const ended = endedRun(seen, status.run, "failed", failure.reason);
    if (!failure.mayRepeat) return { ...retained(failure.message), ended };
    const again = { run: undefined, nextAttemptTime: rfc3339(now + RETRY_MS[0]) };
    return { ...deleting(seen, "RemovingBackup", failure.message, again), ended };
  }
  const nextAt = Date.parse(status?.nextAttemptTime ?? "");
  if (now < nextAt && nextAt - now <= RETRY_MS[0])
    return { ...deleting(seen, "RemovingBackup", "The next try is waited for.", {}), requeueAfterMs: nextAt - now };
  if (needs.kind === "missing") return retained(needs.message);
  if (seen.othersRunning >= RUNS_AT_ONCE) return deleting(seen, "RemovingBackup", "It waits for its turn.", {});
  const id = runId(metadata.uid ?? "", "remove", `${metadata.deletionTimestamp}@${status?.nextAttemptTime ?? ""}`);
  const run: BackupRun = { name: runName(id), attempt: id, task: "remove", startedAt: rfc3339(now) };
  return {
    ...deleting(seen, "RemovingBackup", `What is stored is being removed, by the run ${run.name}.`, { run }),
    act: { kind: "begin", run },
  };
}

function deleting(seen: BackupSeen, reason: "RemovingBackup" | "WaitingForRun", message: string, over: BackupFields): BackupDecision {
  const { generation } = seen.backup.metadata;
  const conditions = [
    conditionFor("Ready", "Deleting", message, generation),
    conditionFor("Progressing", "Deleting", message, generation),
    conditionFor("Deleting", reason, message, generation),
  ];
  return saying(seen, conditions, over, { isBusy: true, requeueAfterMs: LOOK_MS });
}

// --- shared

/** Everything that status has beside its conditions: one manager writes it as a whole. */
function fieldsOf({ backup }: BackupSeen): BackupFields {
  const { conditions: _conditions, ...fields } = backup.status ?? {};
  return { ...fields, slot: slotOf(backup) };
}

function acting(seen: BackupSeen, act: BackupAct): BackupDecision {
  return saying(seen, [], {}, { act, requeueAfterMs: 0 });
}

/** @param over fields of the status that become others */
function saying(
  seen: BackupSeen,
  conditions: readonly ConditionInput[],
  over: BackupFields,
  more: Partial<Omit<BackupDecision, "fields" | "conditions">> = {},
): BackupDecision {
  const fields = { ...fieldsOf(seen), ...over };
  return { act: { kind: "none" }, fields, conditions, isBusy: false, news: [], waitsForDisruption: false, ...more };
}

/** A backup that is not taken yet, and why. */
function inProgress({ backup }: BackupSeen, reason: ReadyReason, message: string): readonly ConditionInput[] {
  return backupConditions(backup, "BackupInProgress", { reason, message });
}
