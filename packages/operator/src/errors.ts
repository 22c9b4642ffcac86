/** Why an effect was not sent, or not known to be done. Closed; see `docs/reference/errors/operator.md`. */
export type EffectErrorCode =
  /** This process does not, or no longer, lead: another one may act. */
  | "NOT_LEADING"
  /** The ClusterRecord is not what the decision was made on. */
  | "RECORD_CHANGED"
  /** A live look on the connection of the effect shows something else than the decision assumed. */
  | "PRECONDITION_GONE"
  /** The annotation `reconcile-mode` says something else than when the effect was decided on, or another object has the name of the one that said it. */
  | "MODE_CHANGED"
  /** The bundle Secret is absent, unreadable or not the recorded one. */
  | "KEYS_UNUSABLE"
  /** Another operator is at work on the same cluster. */
  | "ANOTHER_OPERATOR";

/** What to do, one sentence for each code. */
export const effectRemedies: Readonly<Record<EffectErrorCode, string>> = {
  NOT_LEADING: "Nothing: the leader continues.",
  RECORD_CHANGED: "Nothing: the next pass decides on the new record.",
  PRECONDITION_GONE: "Nothing: the next pass decides on what the machine shows now.",
  MODE_CHANGED: "Nothing: the next pass follows the annotation.",
  KEYS_UNUSABLE: "Restore the bundle Secret that the ClusterRecord names.",
  ANOTHER_OPERATOR: "Stop the other operator.",
};

/** An effect that was held back at the last moment. Nothing was sent. */
export class EffectError extends Error {
  override readonly name = "EffectError";
  readonly code: EffectErrorCode;
  /** What was found, without code and remedy; no secrets. */
  readonly detail: string;
  /** After the next look. */
  readonly retry = "backoff";

  constructor(code: EffectErrorCode, detail: string) {
    super(`${code}: ${detail}. ${effectRemedies[code]}`);
    this.code = code;
    this.detail = detail;
  }
}

/** True for an {@link EffectError}, with one of `codes` when any are given. */
export function isEffectError(thrown: unknown, ...codes: readonly EffectErrorCode[]): thrown is EffectError {
  return thrown instanceof EffectError && (codes.length === 0 || codes.includes(thrown.code));
}
