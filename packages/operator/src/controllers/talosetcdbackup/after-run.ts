import { BEGINS_WITHIN_MS } from "../../workers/runner.ts";
import { failureOf, inconsistency } from "./failures.ts";
import { slotOf } from "./slot.ts";
import { endOfProof } from "./prove.ts";
import { hasSource, lateWords, lost, startOf, taskTimeoutMs } from "./run.ts";
import { inProgress, saying } from "./saying.ts";
import { endOfTry, succeeded, taken } from "./take.ts";
import { LOOK_MS } from "./times.ts";
import type { BackupRun } from "@talos-operator/api";
import type { TaskResult } from "@talos-operator/backup";
import type { BackupRunState } from "../../backups/runner.ts";
import type { Failure } from "./failures.ts";
import type { BackupAct, BackupDecision, BackupSeen } from "./model.ts";

export function afterRun(seen: BackupSeen, run: BackupRun): BackupDecision {
  const state = seen.run ?? { kind: "absent" };
  const isLate = seen.now >= Date.parse(run.startedAt) + taskTimeoutMs(seen.backup, run.task) + BEGINS_WITHIN_MS;
  if (state.kind !== "ended") {
    if (isLate) return ending(seen, run, lateWords(run, state));
    return running(seen, run, state);
  }
  return ending(seen, run, state.result ?? lost(run));
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
    return endOfTry(seen, run, { ...lost(run), message: `The run ${run.name} reported a result of another task.` });
  }
  return endOfTry(seen, run, end);
}
