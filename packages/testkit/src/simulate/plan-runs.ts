import { createSeededRandom } from "@talos-operator/kube-runtime/testing";
import type { EffectId } from "./effects.ts";
import { crashesOf, pick, type PlannedCrash } from "./fault.ts";
import type { RunResult } from "./run-result.ts";
import type { RunOptions } from "./run.ts";
import { EDIT_TROUBLES, TROUBLES, type TroubleKind } from "./troubles.ts";
import type { Workload } from "./workload.ts";

/** Effects that the workload `create` has; every one of them meets every crash. */
const CREATE_EFFECTS: readonly EffectId[] = ["K1", "K2", "K4", "K5", "K6", "K7", "K8", "K9", "T2", "T4"];

/** How often an effect surely happens in a creation, where that is less than three times: a crash planned for a later occurrence would never come. */
const FEWEST: Partial<Record<EffectId, number>> = { K1: 1, K4: 2, K7: 1, K9: 2, T2: 1, T4: 1 };

/** Effects that later parts of a life have; those that a run does not have cost nothing. */
const EDIT_EFFECTS: readonly EffectId[] = ["K2", "K5", "K6", "K7", "K8", "T2", "T3", "T6", "T7", "T8", "T9", "T11", "WL1"];

/** Chance of a nuisance for each effect of a run that has them. */
const NUISANCE_RATE = 0.06;

export interface PlanInput {
  readonly seed: number;
  readonly workload: Workload;
  readonly mutant: string | undefined;
  /** In every second run these instead of each in turn. */
  readonly troubles?: readonly TroubleKind[] | undefined;
}

/** One options object per run. */
export function planRuns(input: PlanInput & { readonly runs: number }): readonly RunOptions[] {
  return Array.from({ length: input.runs }, (_, index) => planRun(input, index));
}

/**
 * One run of many. The pairs of effect and crash go round, two a run, so that each is met equally often; when within the run, and what else goes wrong, is
 * drawn from the seed.
 */
export function planRun(input: PlanInput, index: number): RunOptions {
  const isCreation = input.workload.name === "create";
  const effects = isCreation ? CREATE_EFFECTS : (input.workload.effects ?? EDIT_EFFECTS);
  const troubles = isCreation ? TROUBLES : [...(input.workload.troubles ?? []), ...EDIT_TROUBLES];
  const pairs = effects.flatMap((effect) => crashesOf(effect).map((fault) => ({ effect, fault })));
  const seed = input.seed * 100_000 + index;
  const random = createSeededRandom(seed);
  const crash = (at: number): PlannedCrash => {
    const pair = pairs[at % pairs.length] ?? pick(pairs, random);
    return { ...pair, occurrence: Math.floor(random.fraction() * ((isCreation ? FEWEST[pair.effect] : undefined) ?? 3)) };
  };
  const half = Math.floor(pairs.length / 2);
  return {
    seed,
    workload: input.workload,
    crashes: [crash(index), crash(index + half + Math.floor(index / pairs.length))],
    nuisanceRate: index % 4 < 2 ? 0 : NUISANCE_RATE,
    // Every second run has nothing but crashes, so that what they alone do is seen.
    troubles: index % 2 === 0 ? [] : (input.troubles ?? [troubles[Math.floor(index / 2) % troubles.length] ?? pick(troubles, random)]),
    // Idleness is a property of the end state, which all runs share, so some of them tell; late effects of nuisances would disturb it.
    idleMinutes: index % 8 === 0 ? 10 : 0,
    // Whole lives take their time; most runs begin where the edits do.
    begin: isCreation || index % 5 === 4 ? "birth" : "ready",
    replay: replayOf(input, index, `--runs ${index + 1}`),
  };
}

/** A crash in the middle comes at any moment of it: so often it is played, each time in another world. */
const MIDDLES = 6;

/** Occurrences of an effect that happens more than twice: the first, one in the middle of things, and one late. */
const OCCURRENCES: readonly number[] = [0, 1, 2, 5];

/**
 * Every effect, each of its occurrences worth telling apart, and each crash: one run for each, with nothing else going wrong.
 *
 * @param clean what the workload does when nothing goes wrong: a crash at what does not happen would tell nothing. Creations are not asked: each of
 *   their plans meets another scenario.
 */
export function planCrashes(input: PlanInput, clean?: { readonly options: RunOptions; readonly result: RunResult }): readonly RunOptions[] {
  const times = (effect: EffectId): number =>
    clean === undefined ? (FEWEST[effect] ?? Number.POSITIVE_INFINITY) : (clean.result.effects.get(effect)?.sent ?? 0);
  const effects = clean === undefined ? CREATE_EFFECTS : (input.workload.effects ?? EDIT_EFFECTS);
  const plans = effects.flatMap((effect) =>
    occurrencesOf(effect, times(effect)).flatMap((occurrence) =>
      crashesOf(effect).flatMap((fault): PlannedCrash[] =>
        Array.from({ length: fault === "M" ? MIDDLES : 1 }, () => ({ effect, fault, occurrence })),
      ),
    ),
  );
  return plans.map((plan, index) => ({
    seed: clean?.options.seed ?? input.seed * 100_000 + index,
    workload: input.workload,
    crashes: [plan],
    nuisanceRate: 0,
    troubles: [],
    idleMinutes: 0,
    begin: clean === undefined ? "birth" : "ready",
    replay: replayOf(input, index, "--crash-plans"),
    ...(clean === undefined ? {} : { clean: clean.result.effects }),
  }));
}

function occurrencesOf(effect: EffectId, times: number): readonly number[] {
  const occurrences = OCCURRENCES.filter((occurrence) => occurrence < times);
  // Status, events and leases are written in great numbers, and each like the one before.
  return ["K6", "K8", "K9"].includes(effect) && Number.isFinite(times) ? occurrences.slice(0, 2) : occurrences;
}

/** The run without any fault that crash plans are compared with. */
export function planClean(input: PlanInput): RunOptions {
  return {
    seed: input.seed * 100_000,
    workload: input.workload,
    crashes: [],
    nuisanceRate: 0,
    troubles: [],
    idleMinutes: 10,
    begin: "ready",
    replay: `npm run simulate -- --seed ${input.seed} --crash-plans --workload ${input.workload.name}`,
  };
}

function replayOf({ seed, workload, mutant, troubles }: PlanInput, index: number, which: string): string {
  return `npm run simulate -- --seed ${seed} ${which} --only ${index} --workload ${workload.name}${mutant === undefined ? "" : ` --mutant ${mutant}`}${troubles === undefined ? "" : ` --trouble ${troubles.join(",")}`}`;
}
