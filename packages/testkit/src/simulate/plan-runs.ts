import { createSeededRandom } from "@talos-operator/kube-runtime/testing";
import type { EffectId } from "./effects.ts";
import { CRASHES, pick, type PlannedCrash } from "./fault.ts";
import type { RunOptions } from "./run.ts";
import { TROUBLES, type TroubleKind } from "./troubles.ts";

/** Effects that the workload `create` has; every one of them meets every crash. */
const CREATE_EFFECTS: readonly EffectId[] = ["K1", "K2", "K4", "K5", "K6", "K7", "K8", "K9", "T2", "T4"];

/** How often an effect surely happens in a creation, where that is less than three times: a crash planned for a later occurrence would never come. */
const FEWEST: Partial<Record<EffectId, number>> = { K1: 1, K4: 2, K7: 1, K9: 2, T2: 1, T4: 1 };

/** Chance of a nuisance for each effect of a run that has them. */
const NUISANCE_RATE = 0.06;

export interface PlanInput {
  readonly seed: number;
  readonly runs: number;
  readonly workload: string;
  readonly mutant: string | undefined;
  /** In every second run this one instead of each in turn. */
  readonly trouble?: TroubleKind | undefined;
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
      return { ...pair, occurrence: Math.floor(random.fraction() * (FEWEST[pair.effect] ?? 3)) };
    };
    const half = Math.floor(pairs.length / 2);
    return {
      seed,
      crashes: [crash(index), crash(index + half + Math.floor(index / pairs.length))],
      nuisanceRate: index % 4 < 2 ? 0 : NUISANCE_RATE,
      // Every second run has nothing but crashes, so that what they alone do is seen.
      trouble: index % 2 === 0 ? undefined : (input.trouble ?? TROUBLES[Math.floor(index / 2) % TROUBLES.length]),
      // Idleness is a property of the end state, which all runs share, so some of them tell; late effects of nuisances would disturb it.
      idleMinutes: index % 8 === 0 ? 10 : 0,
      replay: replayOf(input, index, `--runs ${index + 1}`),
    };
  });
}

/** Occurrences of an effect that happens more than twice: the first, one in the middle of things, and one late. */
const OCCURRENCES: readonly number[] = [0, 1, 2, 5];

/** Every effect, each of its occurrences worth telling apart, and each crash: one run for each, with nothing else going wrong. */
export function planCrashes(input: PlanInput): readonly RunOptions[] {
  const plans = CREATE_EFFECTS.flatMap((effect) =>
    OCCURRENCES.filter((occurrence) => occurrence < (FEWEST[effect] ?? Number.POSITIVE_INFINITY)).flatMap((occurrence) =>
      CRASHES.map((fault): PlannedCrash => ({ effect, fault, occurrence })),
    ),
  );
  return plans.map((plan, index) => ({
    seed: input.seed * 100_000 + index,
    crashes: [plan],
    nuisanceRate: 0,
    trouble: undefined,
    idleMinutes: 0,
    replay: replayOf(input, index, "--crash-plans"),
  }));
}

function replayOf({ seed, workload, mutant, trouble }: PlanInput, index: number, which: string): string {
  return `npm run simulate -- --seed ${seed} ${which} --only ${index} --workload ${workload}${mutant === undefined ? "" : ` --mutant ${mutant}`}${trouble === undefined ? "" : ` --trouble ${trouble}`}`;
}
