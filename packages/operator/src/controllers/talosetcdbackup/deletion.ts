import { conditionFor, rfc3339 } from "@talos-operator/api";
import { runName } from "../../backups/runner.ts";
import { runId } from "../../workers/runner.ts";
import { failureOf } from "./failures.ts";
import { hasOurFinalizer, isStored } from "./phase.ts";
import { RUNS_AT_ONCE, endedRun, lost, startOf } from "./run.ts";
import { saying } from "./saying.ts";
import { RETRY_MS } from "./take.ts";
import { LOOK_MS } from "./times.ts";
import type { BackupRun } from "@talos-operator/api";
import type { BackupDecision, BackupFields, BackupNews, BackupSeen } from "./model.ts";

/** How long a deletion tries to remove what is stored, from its first moment on. Milliseconds. */
const REMOVAL_MS = 10 * 60_000;

export function decideDeletion(seen: BackupSeen): BackupDecision | undefined {
  const { backup, now, needs } = seen;
  const { status, metadata } = backup;
  if (!hasOurFinalizer(backup)) return undefined;
  const letGo = (news: readonly BackupNews[]): BackupDecision => ({
    ...deleting(seen, "RemovingBackup", "Nothing is left to do.", { run: undefined }),
    act: { kind: "remove-finalizer" },
    // In a namespace that is going away no event can be made, and none would outlive it.
    news: seen.isTerminating
      ? news.map((one) => ({ ...one, on: "namespace" as const, note: `TalosEtcdBackup ${nameOf(seen)}: ${one.note}` }))
      : news,
  });
  const retained = (why: string): BackupDecision =>
    letGo([{ reason: "BackupRetained", note: `${status?.filename ?? ""} stays in the store: ${why}` }]);
  if (backup.spec.deletionPolicy !== "delete" || !isStored(status)) return letGo([]);
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

function nameOf({ backup: { metadata } }: BackupSeen): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
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
