/** One broken invariant. */
export interface Violation {
  /** Seed of the run. */
  readonly seed: number;
  /** Number of the trace line after which it was seen. */
  readonly step: number;
  /** For example `S1`; the list is in `invariants.ts`. */
  readonly invariant: string;
  readonly detail: string;
  /** Repeats the run alone. */
  readonly replay: string;
  /** The last lines of the trace. */
  readonly trace: readonly string[];
}

/** A broken rule, told with the facts that broke it. */
export type Report = (invariant: string, detail: string) => void;
