import type { TalosTarget } from "@talos-operator/ports";

/** First and longest time for which an endpoint that failed is passed over. */
const DOWN_FIRST_MS = 1_000;
const DOWN_LONGEST_MS = 30_000;

interface Health {
  readonly failures: number;
  readonly until: number;
}

/**
 * Which control plane to look through: the first in the given order that is neither avoided nor known to be down.
 *
 * One that failed is passed over for 1 s, doubling to 30 s, and asked again at once when no other is left. Knows addresses only; opens nothing.
 */
export class EndpointRanking {
  #endpoints: readonly TalosTarget[] = [];
  readonly #health = new Map<string, Health>();
  readonly #avoided = new Map<string, number>();

  /** In order of preference; duplicates count once. */
  set(endpoints: readonly TalosTarget[]): void {
    this.#endpoints = [...new Map(endpoints.map((endpoint) => [keyOf(endpoint), endpoint])).values()];
    for (const key of this.#health.keys()) if (!this.has(key)) this.#health.delete(key);
  }

  has(key: string): boolean {
    return this.#endpoints.some((endpoint) => keyOf(endpoint) === key);
  }

  /**
   * The best one, `undefined` when every endpoint is in `tried` or there is none.
   *
   * An avoided one is taken only when all others are tried or avoided, one that is down before that.
   */
  best(now: number, tried: ReadonlySet<string>): TalosTarget | undefined {
    const left = this.#endpoints.filter((endpoint) => !tried.has(keyOf(endpoint)));
    const isDown = (endpoint: TalosTarget): boolean => this.#isDown(keyOf(endpoint), now);
    const kept = left.filter((endpoint) => !this.isAvoided(keyOf(endpoint)));
    return kept.find((endpoint) => !isDown(endpoint)) ?? this.#soonest(kept) ?? left.find((endpoint) => !isDown(endpoint)) ?? left[0];
  }

  /** Another one than `key` that is neither avoided nor down. */
  isReplaceable(key: string, now: number): boolean {
    return this.#endpoints.some((endpoint) => {
      const other = keyOf(endpoint);
      return other !== key && !this.isAvoided(other) && !this.#isDown(other, now);
    });
  }

  failed(key: string, now: number): void {
    const failures = (this.#health.get(key)?.failures ?? 0) + 1;
    this.#health.set(key, { failures, until: now + Math.min(DOWN_LONGEST_MS, DOWN_FIRST_MS * 2 ** (failures - 1)) });
  }

  answered(key: string): void {
    this.#health.delete(key);
  }

  isAvoided(address: string): boolean {
    return this.#avoided.has(address);
  }

  /** Counts: as many releases as calls end it. */
  avoid(key: string): () => void {
    this.#avoided.set(key, (this.#avoided.get(key) ?? 0) + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const left = (this.#avoided.get(key) ?? 1) - 1;
      if (left === 0) this.#avoided.delete(key);
      else this.#avoided.set(key, left);
    };
  }

  #isDown(key: string, now: number): boolean {
    const health = this.#health.get(key);
    // A clock that went back must not keep an endpoint down for long.
    return health !== undefined && now < health.until && health.until - now <= DOWN_LONGEST_MS;
  }

  #soonest(endpoints: readonly TalosTarget[]): TalosTarget | undefined {
    const until = (endpoint: TalosTarget): number => this.#health.get(keyOf(endpoint))?.until ?? 0;
    return endpoints.toSorted((left, right) => until(left) - until(right))[0];
  }
}

/** Endpoints are told apart by address: one machine has one port. */
export function keyOf(endpoint: TalosTarget): string {
  return endpoint.address;
}
