import type { Timers } from "@talos-operator/ports";

/** Looks under way at once in the whole process: more of them would only make each other late. */
const PLACES = 16;

/** Whoever takes longer gives the place away, so that machines that never answer keep nobody waiting. */
const LONGEST_STAY_MS = 500;

/** An open channel costs some 0.2 MB. With more machines than this, those that are as they should be are met with a fresh one each time. */
const CROWD = 200;

/**
 * Lets looks begin one after another when there are very many, first come, first served.
 *
 * A look has a deadline that starts when it begins. A thousand that begin together would share the processor until all deadlines have passed,
 * and every machine would seem silent.
 */
export class LookGate {
  readonly #timers: Timers;
  readonly #waiting: (() => void)[] = [];
  #free = PLACES;
  #machines = 0;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** One more machine is looked at in this process. */
  admit(): void {
    this.#machines += 1;
  }

  /** One machine less. */
  release(): void {
    this.#machines -= 1;
  }

  /** True when a channel to each machine would take too much memory. */
  isCrowded(): boolean {
    return this.#machines > CROWD;
  }

  async pass<T>(look: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let isInside = true;
    const leave = (): void => {
      if (!isInside) return;
      isInside = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    };
    const timer = this.#timers.schedule(LONGEST_STAY_MS, leave);
    try {
      return await look();
    } finally {
      timer.cancel();
      leave();
    }
  }
}
