import { annotations } from "@talos-operator/api";
import type { TalosEtcdBackup } from "@talos-operator/api";

/** A time as slots have it: `20261123T020000Z`. */
export function slotTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
}

/** Milliseconds since the epoch of {@link slotTime}; `undefined` for any other text. */
function readSlotTime(text: string): number | undefined {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? [];
  if (year === undefined) return undefined;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) || slotTime(at) !== text ? undefined : at;
}

/** When a backup was due: the schedule's time, or the creation of an object that a person made. Milliseconds since the epoch. */
export function dueAt({ metadata }: Pick<TalosEtcdBackup, "metadata">): number {
  return readSlotTime(metadata.annotations?.[annotations.backupSlot] ?? "") ?? Date.parse(metadata.creationTimestamp ?? "") ?? 0;
}

/**
 * What a backup is called in the store: `<time>-<name>`. What was decided once stays, whatever becomes of the annotation. An object that is made anew has
 * another creation time, and so never the slot of the one before.
 */
export function slotOf(backup: Pick<TalosEtcdBackup, "metadata" | "status">): string {
  return backup.status?.slot ?? `${slotTime(dueAt(backup))}-${backup.metadata.name}`;
}
