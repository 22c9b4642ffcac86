import { elapsedMs } from "../elapsed.ts";
import type { Observed, SentEffect } from "../model/observation.ts";

/** What was made gets so long to be shown by the caches, and what was refused until it is asked for again. Milliseconds. */
const PAUSE_MS = { answered: 10_000, refused: 30_000, unknown: 2_000 } as const;

/** How far the making of one TalosEtcdBackup is, as this process remembers it. */
export interface Taking {
  /** Which attempt the next one is: the first, or the retry of one that the API server refused. */
  readonly attempt: 1 | 2;
  /** The retry was refused too. */
  readonly isRefusedTwice: boolean;
  /** What the API server said last, where it refused it. */
  readonly refusal: string | undefined;
  /** Milliseconds until it may be asked for again; 0 = now. */
  readonly pauseMs: number;
}

/** Key in `Observed.sent` of an attempt. */
export function takingKey(name: string, attempt: 1 | 2): string {
  return `TakeSnapshot/${name}/${attempt}`;
}

/** @param forMs what is older is forgotten */
export function takingOf({ sent, now }: Observed, name: string, forMs: number): Taking {
  const of = (attempt: 1 | 2): SentEffect | undefined => {
    const one = sent.get(takingKey(name, attempt));
    return one === undefined || elapsedMs(one.at, now) >= forMs ? undefined : one;
  };
  const [first, second] = [of(1), of(2)];
  const last = second ?? first;
  return {
    attempt: first?.outcome === "refused" || second !== undefined ? 2 : 1,
    isRefusedTwice: second?.outcome === "refused",
    refusal: last?.outcome === "refused" ? last.detail : undefined,
    pauseMs: last === undefined ? 0 : Math.max(0, PAUSE_MS[last.outcome] - elapsedMs(last.at, now)),
  };
}
