import { conditionCatalogue } from "@talos-operator/api";
import type { ConditionEntry, ReadyReason } from "@talos-operator/api";

/** Looks that come sooner are told as this one, so that words stay while nothing changes. Milliseconds. */
const SOON_MS = 10_000;

/**
 * The message of what is waited for, with what releases it and when the operator looks again by itself: for a person who was woken up.
 *
 * What the message says already is not said twice. Word for word the same while nothing changes.
 */
export function withOutlook(reason: ReadyReason, message: string, lookAfterMs: number): string {
  const reasons: ConditionEntry["reasons"] = conditionCatalogue.Ready.reasons;
  const next = reasons[reason]?.next ?? "-";
  const hasNews = next !== "-" && !/^(Nothing|See the condition)/.test(next) && !isSaid(message, next);
  return `${message}${hasNews ? ` Released by: ${next}` : ""} Next look: at once when something changes, else within ${timeFor(lookAfterMs)}.`;
}

/** Whether a message says already what a person can do, in the words of the catalogue or in closer ones that begin alike. */
export function isSaid(message: string, next: string): boolean {
  return message.includes(next.slice(0, 24));
}

function timeFor(ms: number): string {
  if (ms <= SOON_MS) return "10 s";
  return ms <= 60_000 ? `${Math.ceil(ms / 10_000) * 10} s` : `${Math.ceil(ms / 60_000)} min`;
}
