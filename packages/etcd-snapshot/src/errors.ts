/**
 * Why an etcd database cannot be read or written. Closed; a code is never re-used.
 * Each has an entry in `docs/reference/errors/etcd-snapshot.md`.
 */
export type SnapshotErrorCode = "NOT_A_DATABASE" | "TRUNCATED" | "CORRUPT" | "LIMIT_EXCEEDED" | "SPOOL_FAILED" | "INVALID_INPUT";

/** What a person does next; the message of every error ends with it. */
export const SNAPSHOT_ERROR_REMEDIES: Readonly<Record<SnapshotErrorCode, string>> = {
  NOT_A_DATABASE: "Check that this is an etcd snapshot, not compressed and not encrypted.",
  TRUNCATED: "Take or fetch the snapshot again: its end is missing.",
  CORRUPT: "Take or fetch the snapshot again, best from another member.",
  LIMIT_EXCEEDED: "Look at it with etcdutl: it is larger than what is read here.",
  SPOOL_FAILED: "Give the statistics a file with more room.",
  INVALID_INPUT: "Correct what is to be written.",
};

/**
 * A database that cannot be read or written. The message starts with the code and ends with what to do; it never quotes a value.
 */
export class SnapshotError extends Error {
  override readonly name = "SnapshotError";
  readonly code: SnapshotErrorCode;

  constructor(code: SnapshotErrorCode, text: string, options: { readonly cause?: unknown } = {}) {
    super(`${code}: ${text}. ${SNAPSHOT_ERROR_REMEDIES[code]}`, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
  }
}

/** True for a `SnapshotError`, with one of `codes` when any are given. */
export function isSnapshotError(thrown: unknown, ...codes: readonly SnapshotErrorCode[]): thrown is SnapshotError {
  return thrown instanceof SnapshotError && (codes.length === 0 || codes.includes(thrown.code));
}
