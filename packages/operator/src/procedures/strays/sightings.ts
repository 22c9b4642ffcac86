import type { ScheduledTimer, Timers } from "@talos-operator/ports";

/** So long a member has to belong to nobody before it is removed: two looks at every machine lie in between, and whoever adds a machine by hand has listed it. Milliseconds. */
const SIGHTINGS_APART_MS = 120_000;

/**
 * Which members of etcd have belonged to nobody for long enough, counted by timers: a clock that is set forward would make two looks of one moment two that lie
 * apart. In memory only: a new process begins to count anew.
 */
export class Sightings {
  readonly #timers: Timers;
  /** `undefined` = for long enough. */
  readonly #seen = new Map<string, ScheduledTimer | undefined>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** A pass saw these members belong to nobody; the others are forgotten. @param ids `undefined` = nobody can say, and what was seen before stands */
  saw(ids: readonly string[] | undefined): void {
    if (ids === undefined) return;
    for (const [id, timer] of this.#seen) {
      if (ids.includes(id)) continue;
      timer?.cancel();
      this.#seen.delete(id);
    }
    for (const id of ids)
      if (!this.#seen.has(id))
        this.#seen.set(
          id,
          this.#timers.schedule(SIGHTINGS_APART_MS, () => this.#seen.set(id, undefined)),
        );
  }

  /** Members that were seen to be nobody's so long ago, and in every pass since that could tell. */
  long(): ReadonlySet<string> {
    return new Set([...this.#seen].flatMap(([id, timer]) => (timer === undefined ? [id] : [])));
  }

  /** How many are nobody's just now. */
  get count(): number {
    return this.#seen.size;
  }

  close(): void {
    this.saw([]);
  }
}
