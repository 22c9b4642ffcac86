import { durationMs } from "@talos-operator/api";
import type { BackupRun, TalosEtcdBackup } from "@talos-operator/api";
import type { BackupRunState, RunTask } from "../../backups/runner.ts";
import type { EndedRun } from "../../metrics/backup-figures.ts";
import type { Failure } from "./failures.ts";
import type { BackupAct, BackupSeen, SeenCluster } from "./model.ts";

/** Workers of all backups at once. */
export const RUNS_AT_ONCE = 2;

/** How long a run that removes objects may take. Milliseconds. */
const REMOVE_TIMEOUT_MS = 5 * 60_000;

/** How long a take or a prove may work. Milliseconds. */
export function taskTimeoutMs({ spec }: TalosEtcdBackup, task: RunTask): number {
  return task === "remove" ? REMOVE_TIMEOUT_MS : (durationMs(spec.timeout ?? "1h") ?? 3_600_000);
}

export const lost = (run: BackupRun): Failure => ({
  reason: "WorkerFailed",
  message: `The run ${run.name} ended without a result.`,
  mayRepeat: true,
});

export function lateWords(run: BackupRun, state: BackupRunState): Failure {
  const why = state.kind === "waiting" ? `did not begin: ${state.why}` : "did not end in its time";
  return { reason: "WorkerFailed", message: `The run ${run.name} ${why}.`, mayRepeat: true };
}

/** A run that nobody has started begins when there is room: also one that was ended before its end was written down, while others took its turn. */
export function startOf({ othersRunning }: BackupSeen, run: BackupRun, { kind }: BackupRunState): BackupAct {
  return kind === "absent" && othersRunning < RUNS_AT_ONCE ? { kind: "start", run } : { kind: "none" };
}

export function hasSource(cluster: SeenCluster, { source }: BackupRun): boolean {
  return (
    cluster.kind === "present" &&
    cluster.sources.voters.some(({ machine, memberId }) => machine === source?.machine && memberId === source.memberId)
  );
}

export function endedRun(
  { now, run: state }: BackupSeen,
  run: BackupRun,
  result: EndedRun["result"],
  reason: EndedRun["reason"],
): EndedRun {
  const begun = Date.parse(run.startedAt);
  // A runner that does not know when says 0.
  const at = state?.kind === "ended" && state.at >= begun ? state.at : now;
  return { task: run.task, result, reason, tookMs: at - begun };
}
