import { findingsMessage, findCondition, rfc3339 } from "@talos-operator/api";
import { runName } from "../../backups/runner.ts";
import { runId } from "../../workers/runner.ts";
import { backupConditions, proofField, provedCondition } from "./conditions.ts";
import { placeWords } from "./place.ts";
import { RUNS_AT_ONCE, endedRun } from "./run.ts";
import { inProgress, saying, waiting } from "./saying.ts";
import { LOOK_MS } from "./times.ts";
import type { BackupRun, ConditionInput, ReadyReason } from "@talos-operator/api";
import type { TakeResult } from "@talos-operator/backup";
import type { BackupSources, BackupVoter } from "../../assess/backup-sources.ts";
import type { Failure } from "./failures.ts";
import type { BackupDecision, BackupSeen } from "./model.ts";

/** Tries of one backup. */
const TRIES = 3;

/** Between one try and the next. Milliseconds. */
export const RETRY_MS = [30_000, 120_000] as const;

/** How long a snapshot waits for a control plane that is being disturbed. Milliseconds. */
const DISRUPTION_WAIT_MS = 10 * 60_000;

export function beforeTake(seen: BackupSeen): BackupDecision {
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

export function failed(seen: BackupSeen, message: string, attempts: number): BackupDecision {
  const conditions = backupConditions(seen.backup, "BackupFailed", { reason: "BackupFailed", message });
  return saying(
    seen,
    conditions,
    { run: undefined, nextAttemptTime: undefined, attempts },
    { news: [{ reason: "BackupFailed", note: message }] },
  );
}

export function endOfTry(seen: BackupSeen, run: BackupRun, { reason, message, mayRepeat }: Failure): BackupDecision {
  const attempts = seen.backup.status?.attempts ?? 1;
  const pauseMs = RETRY_MS[attempts - 1];
  const over = endedRun(seen, run, "failed", reason);
  if (!mayRepeat || attempts >= TRIES || pauseMs === undefined)
    return { ...failed(seen, attempts > 1 ? `Failed after ${attempts} tries. ${message}` : message, attempts), ended: over };
  const next = `Try ${attempts} of ${TRIES} failed: ${message}`;
  const fields = { run: undefined, nextAttemptTime: rfc3339(seen.now + pauseMs) };
  return saying(seen, inProgress(seen, reason, next), fields, { requeueAfterMs: pauseMs, ended: over });
}

export function taken(seen: BackupSeen, run: BackupRun, { facts, proof }: TakeResult): BackupDecision {
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
export function succeeded({ backup }: BackupSeen, proved?: ConditionInput): readonly ConditionInput[] {
  const { filename = "", revision = 0, totalKey = 0 } = backup.status ?? {};
  return backupConditions(
    backup,
    "BackupSucceeded",
    { reason: "BackupSucceeded", message: successWords(filename, revision, totalKey) },
    proved,
  );
}
