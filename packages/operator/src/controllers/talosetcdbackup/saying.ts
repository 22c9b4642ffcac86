import { backupConditions } from "./conditions.ts";
import { slotOf } from "./slot.ts";
import { WAIT_MS } from "./times.ts";
import type { ConditionInput, ReadyReason } from "@talos-operator/api";
import type { BackupAct, BackupDecision, BackupFields, BackupSeen } from "./model.ts";

export function waiting(seen: BackupSeen, reason: ReadyReason, message: string, requeueAfterMs = WAIT_MS): BackupDecision {
  return saying(seen, inProgress(seen, reason, message), {}, { requeueAfterMs });
}

/** Everything that status has beside its conditions: one manager writes it as a whole. */
function fieldsOf({ backup }: BackupSeen): BackupFields {
  const { conditions: _conditions, ...fields } = backup.status ?? {};
  return { ...fields, slot: slotOf(backup) };
}

export function acting(seen: BackupSeen, act: BackupAct): BackupDecision {
  return saying(seen, [], {}, { act, requeueAfterMs: 0 });
}

/** @param over fields of the status that become others */
export function saying(
  seen: BackupSeen,
  conditions: readonly ConditionInput[],
  over: BackupFields,
  more: Partial<Omit<BackupDecision, "fields" | "conditions">> = {},
): BackupDecision {
  const fields = { ...fieldsOf(seen), ...over };
  return { act: { kind: "none" }, fields, conditions, isBusy: false, news: [], waitsForDisruption: false, ...more };
}

/** A backup that is not taken yet, and why. */
export function inProgress({ backup }: BackupSeen, reason: ReadyReason, message: string): readonly ConditionInput[] {
  return backupConditions(backup, "BackupInProgress", { reason, message });
}
