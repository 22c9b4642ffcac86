import { createHash } from "node:crypto";
import type { RunOptions } from "./run.ts";
import { emptyCounts, type EffectCounts, type RunResult } from "./run-result.ts";
import type { Violation } from "./violation.ts";

/** The JSON of `npm run simulate -- --json`. */
export interface Report {
  readonly seed: number;
  readonly runs: number;
  readonly workload: string;
  readonly mutant: string | undefined;
  readonly violations: readonly Violation[];
  /** SHA-256 over the hashes of all runs, in order. */
  readonly traceHash: string;
  readonly reachedGoal: number;
  readonly virtualSeconds: number;
  readonly decisions: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly effects: Readonly<Record<string, EffectCounts>>;
}

export interface ReportSubject {
  readonly seed: number;
  readonly workload: string;
  readonly mutant: string | undefined;
}

export function createReport(subject: ReportSubject, results: readonly RunResult[]): Report {
  return joinReports(subject, results.map(ofOne));
}

function ofOne({ seed, violations, traceHash, reachedGoal, virtualMs, decisions, effects }: RunResult): Report {
  const faults: Record<string, number> = {};
  for (const { sent: _sent, tookEffect: _tookEffect, ...met } of effects.values())
    for (const [fault, count] of Object.entries(met)) faults[fault] = (faults[fault] ?? 0) + count;
  return {
    seed,
    runs: 1,
    workload: "",
    mutant: undefined,
    violations,
    traceHash,
    reachedGoal: reachedGoal ? 1 : 0,
    virtualSeconds: virtualMs / 1000,
    decisions,
    faults,
    effects: Object.fromEntries(effects),
  };
}

/** One report of several parts, in this order. */
export function joinReports(subject: ReportSubject, parts: readonly Report[]): Report {
  const hash = createHash("sha256");
  const effects: Record<string, EffectCounts> = {};
  const faults: Record<string, number> = {};
  for (const part of parts) {
    hash.update(part.traceHash);
    for (const [fault, count] of Object.entries(part.faults)) faults[fault] = (faults[fault] ?? 0) + count;
    for (const [effect, counts] of Object.entries(part.effects)) {
      const sum = (effects[effect] ??= emptyCounts());
      for (const key of Object.keys(counts) as (keyof EffectCounts)[]) sum[key] += counts[key];
    }
  }
  const total = (of: (part: Report) => number): number => parts.reduce((sum, part) => sum + of(part), 0);
  return {
    ...subject,
    runs: total(({ runs }) => runs),
    violations: parts.flatMap(({ violations }) => violations),
    traceHash: hash.digest("hex"),
    reachedGoal: total(({ reachedGoal }) => reachedGoal),
    virtualSeconds: Math.round(total(({ virtualSeconds }) => virtualSeconds)),
    decisions: total(({ decisions }) => decisions),
    faults: sorted(faults),
    effects: sorted(effects),
  };
}

function sorted<T>(record: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => a.localeCompare(b, "en", { numeric: true })));
}

/** One line for people: which life of a rotation it was, and what came of it. */
export function tellLife(index: number, { workload, troubles, replay }: RunOptions, { violations, reachedGoal }: RunResult): string {
  const outcome = violations.length > 0 ? "VIOLATION" : reachedGoal ? "reached" : "not reached";
  return `${String(index).padStart(4)} ${workload.name.padEnd(22)} ${(troubles.join(", ") || "no trouble").padEnd(22)} ${outcome.padEnd(11)} ${replay}`;
}
