import type { TroubleKind } from "../simulate/troubles.ts";

/** A fault planted into the product's own source while it is loaded: the harness must notice. */
export interface Mutant {
  readonly name: string;
  /** Which rule it breaks, or which incident of the field it replays. */
  readonly about: string;
  /** Incidents (`INC16`), faults of other operators (`W3`, `V5`) and guards (`guard T4`) that it stands for. */
  readonly stands?: readonly string[];
  readonly edits: readonly SourceEdit[];
  /** The trouble without which the removed guard is never needed; played in every second run. */
  readonly trouble?: TroubleKind;
  /** The workload in which the fault shows; default `create`. */
  readonly workload?: string;
  /** Most runs until it must be noticed; default 40. */
  readonly runs?: number;
  /** Test files below `packages/` that must fail with it, instead of a simulation. */
  readonly tests?: readonly string[];
}

export interface SourceEdit {
  /** Below `packages/`. */
  readonly file: string;
  /** Occurs exactly once in the file; otherwise loading fails, so that a mutant cannot go stale in silence. */
  readonly find: string;
  readonly replace: string;
}
