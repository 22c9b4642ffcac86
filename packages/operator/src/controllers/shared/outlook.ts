import { conditionCatalogue } from "@talos-operator/api";
import type { ConditionEntry, ReadyReason } from "@talos-operator/api";

/** What is waited for. */
interface Told {
  readonly reason: ReadyReason;
  readonly message: string;
  /** The message says itself what a person can do. */
  readonly saysRemedy?: true;
}

/**
 * The message of what is waited for, with what would release it: for a person who was woken up.
 *
 * What the message says already is not said twice. Word for word the same while nothing changes.
 */
export function withOutlook({ reason, message, saysRemedy }: Told): string {
  if (saysRemedy === true) return message;
  const reasons: ConditionEntry["reasons"] = conditionCatalogue.Ready.reasons;
  const next = reasons[reason]?.next ?? "-";
  const hasNews = next !== "-" && !/^(Nothing|See the condition)/.test(next) && !isSaid(message, next);
  return hasNews ? `${message} To continue: ${next}` : message;
}

/** Whether a message says already what a person can do, in the words of the catalogue or in closer ones that begin alike. */
export function isSaid(message: string, next: string): boolean {
  return message.includes(next.slice(0, 24));
}
