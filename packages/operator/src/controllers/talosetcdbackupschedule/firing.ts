import type { TalosEtcdBackupSchedule } from "@talos-operator/api";
import type { FiringTimes } from "./cron.ts";

/** What of a schedule fell due since it was last acted on. */
export interface Firing {
  /** The newest time that is due; `undefined` = none. Milliseconds since the epoch. */
  readonly due: number | undefined;
  /** Times before it that were due as well. */
  readonly earlier: number;
  /** The first one after now; `undefined` = it never fires again. */
  readonly next: number | undefined;
}

/** Due times that are counted one by one; of more it is known that there were many. */
const MOST_COUNTED = 1_000;
const MINUTE_MS = 60_000;

/**
 * What is due. Pure.
 *
 * `status.nextScheduleTime` is what was promised last: from there on it is counted, whoever was away since. A schedule that was edited so that it does not fire
 * at that time, or that was paused or not understood meanwhile, counts from now on; a new one from its creation. So does one whose promise lies beyond its
 * next time: a clock was ahead when it was made.
 */
export function firingOf({ metadata, status }: TalosEtcdBackupSchedule, times: FiringTimes, now: number): Firing {
  const promised = Date.parse(status?.nextScheduleTime ?? "");
  const isPromised = !Number.isNaN(promised) && times.after(promised - 1) === promised && promised <= (times.after(now) ?? promised);
  const isNew = status?.conditions === undefined;
  let at: number | undefined = isPromised ? promised - 1 : isNew ? Math.min(Date.parse(metadata.creationTimestamp ?? ""), now) : now;
  if (Number.isNaN(at)) at = now;
  let due: number | undefined;
  let count = 0;
  for (;;) {
    at = times.after(at);
    if (at === undefined || at > now) break;
    due = at;
    count += 1;
    // No schedule fires more often than once a minute.
    if (count === MOST_COUNTED) at = Math.max(at, now - MOST_COUNTED * MINUTE_MS);
  }
  return { due, earlier: Math.max(0, count - 1), next: at };
}
