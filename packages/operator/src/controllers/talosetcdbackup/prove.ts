import { annotations, conditionFor, durationMs, findCondition, rfc3339 } from "@talos-operator/api";
import { runName } from "../../backups/runner.ts";
import { runId } from "../../workers/runner.ts";
import { proofField, provedCondition } from "./conditions.ts";
import { failureOf } from "./failures.ts";
import { RUNS_AT_ONCE, endedRun, lost } from "./run.ts";
import { saying } from "./saying.ts";
import { succeeded } from "./take.ts";
import { LOOK_MS, WAIT_MS } from "./times.ts";
import type { BackupRun, ConditionInput, ReasonOf, TalosEtcdBackup } from "@talos-operator/api";
import type { ProveResult, TaskResult } from "@talos-operator/backup";
import type { Failure } from "./failures.ts";
import type { BackupAct, BackupDecision, BackupFields, BackupSeen } from "./model.ts";

/** A proof that could not be tried is tried again after this. Milliseconds. */
const PROOF_RETRY_MS = 10 * 60_000;

export function afterSuccess(seen: BackupSeen): BackupDecision {
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

export function endOfProof(seen: BackupSeen, run: BackupRun, end: TaskResult | Failure): BackupDecision {
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
    "kind" in end
      ? end.kind === "failed"
        ? failureOf(end)
        : { ...lost(run), message: "The run reported a result of another task." }
      : end;
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
export function expiry({ backup, now }: BackupSeen): { readonly act?: BackupAct; readonly requeueAfterMs?: number } {
  const { keep, keepFor } = backup.spec.retention ?? {};
  const forMs = keepFor === undefined ? undefined : durationMs(keepFor);
  if (keep === true || forMs === undefined) return {};
  const endedAt = Date.parse(backup.status?.completionTime ?? findCondition(backup.status?.conditions, "Failed")?.lastTransitionTime ?? "");
  if (Number.isNaN(endedAt)) return {};
  const leftMs = endedAt + forMs - now;
  return leftMs <= 0 ? { act: { kind: "delete" } } : { requeueAfterMs: Math.min(leftMs, 3_600_000) };
}
