import type { Timers } from "@talos-operator/ports";

/** Looks under way at once in the whole process, at machines that answered last time or were never asked: more of them would only make each other late. */
const PLACES = 16;

/** The same at machines that did not answer last time: they take nothing from the others, who wait for nobody's silence. */
const SILENT_PLACES = 16;

/** Whoever takes longer gives the place away, so that machines that begin to be silent keep nobody waiting for long. */
const LONGEST_STAY_MS = 500;

/** An open channel costs some 0.2 MB. With more machines than this, those that are as they should be are met with a fresh one each time. */
const CROWD = 200;

/**
 * Lets looks begin one after another when there are very many: first come, first served, those at silent machines by themselves.
 *
 * A look has a deadline that starts when it begins. A thousand that begin together would share the processor until all deadlines have passed,
 * and every machine would seem silent.
 */
export class LookGate {
  readonly #timers: Timers;
  readonly #answering = new Places(PLACES);
  readonly #silent = new Places(SILENT_PLACES);
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

  /** @param wasSilent the machine did not answer at the look before */
  async pass<T>(look: () => Promise<T>, wasSilent: boolean): Promise<T> {
    const leave = await (wasSilent ? this.#silent : this.#answering).enter();
    const timer = this.#timers.schedule(LONGEST_STAY_MS, leave);
    try {
      return await look();
    } finally {
      timer.cancel();
      leave();
    }
  }
}

/** So many may be inside; the others wait in their order. */
class Places {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves inside, with what gives the place to the next one; calling it again does nothing. */
  async enter(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    };
  }
}
