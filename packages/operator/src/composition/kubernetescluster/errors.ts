/** What went wrong while a cluster was composed, in the words of the figure reconciliation_errors_total. Closed. */
export type CompositionErrorKind =
  /** Something is wrong with the spec: only another spec helps. */
  | "ValidationError"
  /** A Machine, or a pool of them, could not be made or changed: tried again, later and later. */
  | "MachineCreationError"
  /** A file could not be written: the cluster goes on without. */
  | "FileSystemError"
  /** A Machine came back without its owner: tried again. */
  | "OwnerReferenceError"
  /** Something else that the API server said or did not say: tried again. */
  | "ApiError";

/** A failure that ends a pass over a cluster; the pass comes again after 1, 2, 4, 8 seconds and so on up to five minutes. */
export class CompositionError extends Error {
  override readonly name = "CompositionError";
  readonly kind: CompositionErrorKind;

  constructor(kind: CompositionErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** The first delay and the longest one, in milliseconds (A058); jitter only shortens them. */
export const compositionBackoff = { baseMs: 1_000, maxMs: 300_000 } as const;
