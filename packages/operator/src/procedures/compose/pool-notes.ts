import { elapsedMs } from "../../elapsed.ts";
import type { Observed, SentEffect } from "../../model/observation.ts";

/** What the API server refused for a pool is tried again after so long. */
const REFUSED_AGAIN_MS = 15_000;

/** A cache that does not know yet what a pool says by now is looked at again so soon. */
const CACHE_BEHIND_MS = 1_000;

/** A refusal of which nothing was heard for so long is none any more: it would have been tried again. */
const REFUSAL_LASTS_MS = 120_000;

/** Where this process notes that something was not done for a worker pool. The cluster goes on without it. */
export function poolNote(pool: string): string {
  return `Compose/${pool}`;
}

/** Nothing is written for this pool now: the API server refused that a moment ago, or the pool says something else than its cache. */
export function isLeftAlone({ sent, now }: Pick<Observed, "sent" | "now">, pool: string): boolean {
  const note = sent.get(poolNote(pool));
  return note !== undefined && elapsedMs(note.at, now) < (note.outcome === "refused" ? REFUSED_AGAIN_MS : CACHE_BEHIND_MS);
}

/** What the API server said when it refused something of this pool; `undefined` = it refuses nothing. */
export function refusalOf({ sent, now }: Pick<Observed, "sent" | "now">, pool: string): SentEffect["detail"] | undefined {
  const note = sent.get(poolNote(pool));
  return note?.outcome === "refused" && elapsedMs(note.at, now) < REFUSAL_LASTS_MS ? note.detail : undefined;
}
