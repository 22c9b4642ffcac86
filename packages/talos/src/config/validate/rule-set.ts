import type { Generation } from "../schema/notation.ts";

/** Where the machine runs: `metal` installs itself, `container` has no disks, `cloud` is a machine image that is installed already. */
export type RuntimeMode = "metal" | "cloud" | "container";

/** Which of the rules hold. */
export interface RuleSet {
  readonly mode: RuntimeMode;
  readonly generation: Generation;
}
