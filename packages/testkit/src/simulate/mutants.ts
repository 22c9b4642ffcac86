/** A fault planted into the product's own source while it is loaded: the harness must notice. */
export interface Mutant {
  readonly name: string;
  /** Which rule it breaks, or which incident of the field it replays. */
  readonly about: string;
  readonly edits: readonly SourceEdit[];
}

export interface SourceEdit {
  /** Below `packages/`. */
  readonly file: string;
  /** Occurs exactly once in the file; otherwise loading fails, so that a mutant cannot go stale in silence. */
  readonly find: string;
  readonly replace: string;
}

export const mutants: readonly Mutant[] = [];
