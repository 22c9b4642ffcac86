import type { ReadyReason } from "../reasons/catalogue.ts";

/**
 * Something in what a person wrote that the schema accepts and no cluster can be made of.
 *
 * The object gets the condition Ready=False with `reason`; nothing is sent to a machine while one stands.
 */
export interface Finding {
  /** Path of the field, for example `spec.metalSpec.machines[1].address`. */
  readonly field: string;
  /** What is wrong, with the value. */
  readonly message: string;
  /** What to write instead. */
  readonly remedy: string;
  readonly reason: ReadyReason;
}

/** Findings as the message of a condition: `field: message; remedy`, one after the other, at most `limit` spelled out. */
export function findingsMessage(findings: readonly Finding[], limit = 10): string {
  const sentences = findings.slice(0, limit).map(({ field, message, remedy }) => `${field}: ${message}. ${remedy}.`);
  const rest = findings.length - sentences.length;
  return [...sentences, ...(rest > 0 ? [`And ${rest} more.`] : [])].join(" ");
}
