import { rfc3339 } from "@talos-operator/api";
import type { AddonRun } from "@talos-operator/api";

/** What a run may take on top of its own time: an image that is pulled, a node that is waited for. Milliseconds. */
const BEGINS_WITHIN_MS = 5 * 60_000;

/** What a run keeps of its time from its begin on: an edit of the time-out is no reason to end what goes on. @param taskMs how long its worker may work */
export function timesOfRun(now: number, taskMs: number): Pick<AddonRun, "startedAt" | "giveUpTime"> {
  return { startedAt: rfc3339(now), giveUpTime: rfc3339(now + taskMs + BEGINS_WITHIN_MS) };
}

/** How long its worker may work. @param otherwise of a run that an earlier release began, which kept no time. Milliseconds */
export function taskTimeOf({ startedAt, giveUpTime }: AddonRun, otherwise: number): number {
  return giveUpTime === undefined ? otherwise : Date.parse(giveUpTime) - Date.parse(startedAt) - BEGINS_WITHIN_MS;
}

/** Whether its time is over. */
export function isLate(run: AddonRun, now: number, otherwise: number): boolean {
  return now >= Date.parse(run.startedAt) + taskTimeOf(run, otherwise) + BEGINS_WITHIN_MS;
}
