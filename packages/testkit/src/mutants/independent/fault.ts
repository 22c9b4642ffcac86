import type { Mutant } from "../mutant.ts";

/**
 * A fault thought of by somebody who read the product and no test of it. Nobody chose it because something would notice.
 * `faults-*.json` hold them; `docs/reference/independent-faults.md` tells how many are noticed.
 */
export interface IndependentFault {
  readonly name: string;
  /** What of `docs/reference/mutants.md` or of security it is about: an effect (`T4`, `K1`), `WL1`, `security`. */
  readonly area: string;
  /** From the root of the repository. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly was: string;
  readonly is: string;
  readonly breaks: string;
  /** The test file that fails with it, from the root; absent while none is known. */
  readonly noticedBy?: string;
  /** Why it is no fault: what is done with it is the same as without. */
  readonly none?: string;
}

/** How many of each area are in the sample. */
const SAMPLE = 8;

/** The first of each area by name: chosen by a rule that knows no outcome. */
export function sampleOf(faults: readonly IndependentFault[]): readonly IndependentFault[] {
  const areas = Map.groupBy(faults, ({ area }) => area);
  return [...areas.values()].flatMap((inArea) => inArea.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(0, SAMPLE));
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
