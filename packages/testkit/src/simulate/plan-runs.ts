import { createSeededRandom } from "@talos-operator/kube-runtime/testing";
import type { EffectId } from "./effects.ts";
import { CRASHES, pick, type PlannedCrash } from "./fault.ts";
import type { RunOptions } from "./run.ts";

/** Effects that the workload `create` has; every one of them meets every crash. */
export const CREATE_EFFECTS: readonly EffectId[] = ["K1", "K2", "K4", "K5", "K6", "K7", "K8", "K9", "T2", "T4"];

/** Effects that happen once in a creation: a crash planned for a later occurrence would never come. */
const ONCE: ReadonlySet<EffectId> = new Set(["K1", "T4"]);

/** Chance of a nuisance for each effect of a run that has them. */
const NUISANCE_RATE = 0.06;

export interface PlanInput {
  readonly seed: number;
  readonly runs: number;
  readonly workload: string;
  readonly mutant: string | undefined;
}

/**
 * One options object per run. The pairs of effect and crash go round, two a run, so that each is met equally often; when within the run, and what else
 * goes wrong, is drawn from the seed.
 */
export function planRuns(input: PlanInput): readonly RunOptions[] {
  const pairs = CREATE_EFFECTS.flatMap((effect) => CRASHES.map((fault) => ({ effect, fault })));
  return Array.from({ length: input.runs }, (_, index) => {
    const seed = input.seed * 100_000 + index;
    const random = createSeededRandom(seed);
    const crash = (at: number): PlannedCrash => {
      const pair = pairs[at % pairs.length] ?? pick(pairs, random);
      return { ...pair, occurrence: ONCE.has(pair.effect) ? 0 : Math.floor(random.fraction() * 3) };
    };
    const half = Math.floor(pairs.length / 2);
    return {
      seed,
      crashes: [crash(index), crash(index + half + Math.floor(index / pairs.length))],
      nuisanceRate: index % 2 === 0 ? 0 : NUISANCE_RATE,
      // Idleness is a property of the end state, which all runs share: a tenth of them tells.
      idleMinutes: index % 10 === 0 ? 10 : 0,
      replay: `npm run simulate -- --seed ${input.seed} --runs ${index + 1} --only ${index} --workload ${input.workload}${input.mutant === undefined ? "" : ` --mutant ${input.mutant}`}`,
    };
  });
}
