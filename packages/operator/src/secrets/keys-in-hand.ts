import type { ScheduledTimer, Timers } from "@talos-operator/ports";
import type { SecretsBundle } from "@talos-operator/talos";

/**
 * Machines turn up within moments of each other, each with a pass of its own: the keys read for the first serve the others. No longer, for nothing is sent with
 * keys that somebody took away: what an effect asks before it sends comes on top.
 */
const KEPT_MS = 3_000;

/** The bundle of a cluster for effects, kept for a moment since it was last read. */
export class KeysInHand {
  readonly #timers: Timers;
  #kept: { readonly fingerprint: string; readonly bundle: Promise<SecretsBundle>; readonly end: ScheduledTimer } | undefined;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** The bundle with this fingerprint: read now, or kept since the last reading. A reading that failed is not kept. */
  get(fingerprint: string, read: () => Promise<SecretsBundle>): Promise<SecretsBundle> {
    if (this.#kept?.fingerprint === fingerprint) return this.#kept.bundle;
    this.forget();
    const bundle = read();
    const kept = { fingerprint, bundle, end: this.#timers.schedule(KEPT_MS, () => this.forget()) };
    this.#kept = kept;
    bundle.catch(() => {
      if (this.#kept === kept) this.forget();
    });
    return bundle;
  }

  forget(): void {
    this.#kept?.end.cancel();
    this.#kept = undefined;
  }
}
