import type { Mutant } from "../mutant.ts";

/**
 * A fault thought of by somebody who read the product and no test of it. Nobody chose it because something would notice.
 * `faults-*.json` hold them; `docs/reference/independent-faults.md` tells how many were noticed at first.
 */
export interface IndependentFault {
  readonly name: string;
  /** What it is about: a row of the inventory of effects (`T4`, `K1`, `WL1`), or `security`. */
  readonly area: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly was: string;
  readonly is: string;
  readonly breaks: string;
  /** The test file that fails with it, from the root; absent while none is known. */
  readonly noticedBy?: string;
}

/** As what is planted: one edit, and the tests that are to fail with it. */
export function mutantOf(
  fault: IndependentFault,
  tests: readonly string[] = fault.noticedBy === undefined ? [] : [fault.noticedBy],
): Mutant {
  const below = (path: string): string => path.replace(/^packages\//, "");
  return {
    name: fault.name,
    about: fault.breaks,
    edits: [{ file: below(fault.file), find: fault.was, replace: fault.is }],
    tests: tests.map(below),
  };
}
