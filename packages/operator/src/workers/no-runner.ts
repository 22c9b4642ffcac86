import type { WorkerRunner } from "./runner.ts";

/** Of an operator that was given nothing to start workers with: whoever would ask for a run is refused before. */
export const noRunner: WorkerRunner<unknown, unknown, never> = {
  start: ({ name }) => Promise.reject(new Error(`run ${name} cannot be started: this operator has no workers`)),
  look: () => Promise.resolve({ kind: "absent" }),
  remove: () => Promise.resolve(),
  list: () => Promise.resolve([]),
};
