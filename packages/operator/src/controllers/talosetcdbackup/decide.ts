import { findCondition } from "@talos-operator/api";
import { afterRun } from "./after-run.ts";
import { hasFailed, hasOurFinalizer, isOfOthers, isStored } from "./phase.ts";
import { afterSuccess, expiry } from "./prove.ts";
import { decideDeletion } from "./deletion.ts";
import { acting } from "./saying.ts";
import { beforeTake, failed } from "./take.ts";
import { withUnlabelled } from "./unlabelled.ts";
import type { BackupDecision, BackupSeen } from "./model.ts";

/** Decides about one backup. Pure. `undefined` = it is left as it is: another operator finished it. */
export function decideBackup(seen: BackupSeen): BackupDecision | undefined {
  const decision = decided(seen);
  return decision === undefined ? undefined : withUnlabelled(seen, decision);
}

function decided(seen: BackupSeen): BackupDecision | undefined {
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

function afterFailure(seen: BackupSeen): BackupDecision {
  const message = findCondition(seen.backup.status?.conditions, "Ready")?.message ?? "The backup ended without success.";
  return { ...failed(seen, message, seen.backup.status?.attempts ?? 0), news: [], ...expiry(seen) };
}
