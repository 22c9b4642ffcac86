import { readFaults } from "./adapters/read-faults.ts";
import type { Mutant } from "./mutant.ts";

/** Invariants of a pass that a table shows broken when nothing else is. */
const ids = ["S1", "S2", "S3", "S4", "S5", "S6", "S10", "S11", "S12", "S13", "S15", "S19", "S20", "S24", "S32"] as const;

/** A rule's pass that breaks one of them goes through where it is not asserted. */
const passBreaks = ids.map((id): Mutant => ({
  name: `pass-breaks-${id.toLowerCase()}`,
  about: `lets a rule through whose pass breaks ${id}`,
  tests: ["operator/src/invariants/broken.test.ts"],
  edits: [
    {
      file: "operator/src/invariants/broken.ts",
      find: "const detail = invariant.broken(pass);",
      replace: `const detail = id === "${id}" ? undefined : invariant.broken(pass);`,
    },
  ],
}));

/** Every fault that can be planted. */
export const mutants: readonly Mutant[] = [...readFaults(), ...passBreaks];
