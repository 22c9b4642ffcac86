import { planRun } from "./plan-runs.ts";
import type { RunOptions } from "./run.ts";
import type { TroubleKind } from "./troubles.ts";
import type { Workload } from "./workload.ts";

export interface RotationInput {
  readonly seed: number;
  readonly runs: number;
  readonly workloads: readonly Workload[];
  readonly troubles: readonly TroubleKind[];
  readonly mutant: string | undefined;
}

/** One in so many has no trouble, and is asked in the end whether it is idle. */
const QUIET_EVERY = 10;

/**
 * One life after the other, each of the next workload, with the next trouble: `runs` lives in all. Every pair comes round once in as many lives as there are
 * pairs; which ones are in the first lives is told by the seed. Each is a life of `planRuns`, so that it can be played again alone.
 */
export function planRotation({ seed, runs, workloads, troubles, mutant }: RotationInput): readonly RunOptions[] {
  const step = strideOf(troubles.length);
  return Array.from({ length: runs }, (_, index) => {
    const round = Math.floor(index / workloads.length);
    const place = index % workloads.length;
    const workload = at(workloads, place);
    // A workload with troubles of its own meets them in every second of its lives.
    const own = round % 2 === 0 ? undefined : workload.troubles;
    const trouble = own === undefined ? at(troubles, (seed + round) * step + place) : at(own, seed + Math.floor(round / 2));
    // Of `planRuns` the odd ones have troubles, and every eighth is idle in the end.
    const number = index % QUIET_EVERY === 0 ? 8 * index : 2 * index + 1;
    return planRun({ seed, workload, mutant, troubles: [trouble] }, number);
  });
}

/** A step that meets every one of so many before it meets one twice, and goes far at once. */
function strideOf(count: number): number {
  let stride = Math.ceil(count / 2);
  while (divisor(stride, count) > 1) stride += 1;
  return stride;
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

function at<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length];
  if (item === undefined) throw new Error("there is nothing to go round in");
  return item;
}
