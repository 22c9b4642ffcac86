import type { BackupRunner } from "./runner.ts";

/** Of an operator that was given nothing to start workers with: validation refuses every backup, so that nobody asks it to. */
export const noRunner: BackupRunner = {
  start: ({ name }) => Promise.reject(new Error(`run ${name} cannot be started: this operator has no workers`)),
  look: () => Promise.resolve({ kind: "absent" }),
  remove: () => Promise.resolve(),
  list: () => Promise.resolve([]),
};
