import type { MachineEffects } from "./machine-effects.ts";
import { planClean } from "./plan-runs.ts";
import type { RunResult } from "./run-result.ts";
import type { RunOptions } from "./run.ts";
import type { Workload } from "./workload.ts";

/** Lives in which nothing goes wrong, of every workload: one whose edits begin on a Ready cluster, and one from birth on, whose machines are slow. */
const LIVES: readonly Pick<RunOptions, "begin" | "seed">[] = [
  { begin: "ready", seed: 1 },
  { begin: "birth", seed: 6 },
];

/** Effects on each machine, in their order, by workload and life: `recorded.drain["ready 1"]["10.5.0.4"]`. */
export type RecordedLives = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>>;

/** What is otherwise than it was recorded, and is meant to be. */
export interface WantedDifference {
  readonly workload: string;
  readonly life: string;
  readonly machine: string;
  /** What takes place now; empty: nothing. */
  readonly now: string;
  readonly reason: string;
}

/** What lives are compared with. */
export interface Recording {
  readonly recorded: RecordedLives;
  readonly wanted: readonly WantedDifference[];
}

/** @param read gives the text of a file */
export function readRecording(read: (file: URL) => string): Recording {
  const parsed = (name: string): unknown => JSON.parse(read(new URL(`../../testdata/recorded-lives/${name}`, import.meta.url)));
  return {
    recorded: parsed("effects.json") as RecordedLives,
    wanted: parsed("wanted-differences.json") as readonly WantedDifference[],
  };
}

/** Plays the lives of one workload that were recorded: none of a newer one. What takes place otherwise is a violation, `Recorded`. */
export async function playRecorded(
  workload: Workload,
  { recorded, wanted }: Recording,
  run: (options: RunOptions) => Promise<RunResult>,
): Promise<readonly RunResult[]> {
  const lives = recorded[workload.name];
  if (lives === undefined) return [];
  const results: RunResult[] = [];
  for (const [life, options] of livesOf(workload)) {
    const before = lives[life];
    if (before === undefined) continue;
    const result = await run(options);
    const differences = compareLife({ workload: workload.name, life }, before, result.machineEffects, wanted);
    const told = differences.map((detail) => ({
      seed: options.seed,
      step: 0,
      invariant: "Recorded",
      detail,
      replay: options.replay,
      trace: [],
    }));
    results.push({ ...result, violations: [...result.violations, ...told] });
  }
  return results;
}

/** The lives of one workload that can be recorded, by name. */
export function livesOf(workload: Workload): ReadonlyMap<string, RunOptions> {
  const clean = planClean({ seed: 1, workload, mutant: undefined });
  const replay = `npm run simulate -- --compare-recorded --workload ${workload.name}`;
  return new Map(LIVES.map(({ begin, seed }) => [`${begin} ${seed}`, { ...clean, begin, seed, replay }]));
}

/**
 * What takes place otherwise than it was recorded, in words for people: nothing where all is as it was, or as `wanted` says. A difference that is wanted and is
 * not there any more is told, too.
 */
export function compareLife(
  { workload, life }: { readonly workload: string; readonly life: string },
  before: Readonly<Record<string, string>>,
  effects: MachineEffects,
  wanted: readonly WantedDifference[],
): readonly string[] {
  const now: Readonly<Record<string, string>> = Object.fromEntries(
    Object.entries(effects).map(([machine, list]) => [machine, list.join(", ")]),
  );
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].flatMap((machine) => {
    const [was = "", is = ""] = [before[machine], now[machine]];
    const meant = wanted.find((one) => one.workload === workload && one.life === life && one.machine === machine);
    if (is === (meant?.now ?? was) && (meant === undefined || is !== was)) return [];
    const where = `${workload}, ${life}, ${machine}`;
    if (meant !== undefined && is === was) return [`${where}: is as it was recorded; take it out of wanted-differences.json`];
    return [
      `${where}:\n  recorded: ${was || "nothing"}\n${meant === undefined ? "" : `  wanted:   ${meant.now || "nothing"}\n`}  now:      ${is || "nothing"}`,
    ];
  });
}
