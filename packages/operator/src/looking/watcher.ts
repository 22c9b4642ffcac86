import type { RandomSource, ScheduledTimer, Timers } from "@talos-operator/ports";
import { isSameLook, isSameStep } from "./look.ts";
import type { Look } from "./look.ts";

/** How often a machine is looked at: `eager` while something is expected of it, `settled` when it is as it should be. */
export type Pace = "eager" | "settled";

/** First and longest pause between looks while something is expected. */
const EAGER_FIRST_MS = 50;
const EAGER_LONGEST_MS = 2_000;
const EAGER_GROWTH = 1.5;

/** A machine that comes up tells of one condition after another. Each shows that it goes on, none that it is about to be ready: the pause is cut to this. */
const GOES_ON_MS = 500;

/** With very many machines nobody notices a quarter of a second, and each look that shows nothing new costs all the others. */
const CROWDED_LEAST_MS = 250;

/** A machine in maintenance mode waits for us, not we for it: this is the longest pause between looks at it. */
const WAITING_LONGEST_MS = 10_000;

/** The pause is at least this many times as long as a look took that was answered: while this process is busy everybody is asked less often. */
const PAUSE_PER_LOOK = 1;
const CROWDED_PAUSE_PER_LOOK = 4;

/** Pause between looks at a machine that is as it should be; up to twice as long, so that machines are not all asked at once. */
const SETTLED_MS = 30_000;

/** A look that begins so much later than planned, or takes so long, does so because the clock was set forward. */
const NEVER_SO_LATE_MS = 30_000;

/** A machine that answered until now is asked once more before it is called silent. */
const SECOND_CHANCE_MS = 500;

/** What a watcher needs. */
export interface WatcherOptions {
  /** One look; must end by itself and never throw. */
  readonly look: () => Promise<Look>;
  /** Called when a look says something else than the one before. */
  readonly onChange: (look: Look) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly timers: Timers;
  readonly random: RandomSource;
  /** Very many machines are looked at in this process. */
  readonly isCrowded: () => boolean;
}

/**
 * Looks at one machine again and again, so that a pass never waits for the network: it takes what is known.
 *
 * While something is expected the pause grows from 50 ms to 2 s (to 10 s in maintenance mode) and starts anew with each change; with very many machines it is 250 ms at least.
 */
export class Watcher {
  readonly #options: WatcherOptions;
  #last: Look = { kind: "not-asked" };
  #pace: Pace = "eager";
  #pauseMs = EAGER_FIRST_MS;
  #timer: ScheduledTimer | undefined;
  #isLooking = false;
  #isLookWanted = false;
  #isForgiven = false;
  #isClosed = false;
  /** When the next look is due, by the clock. */
  #dueAt = Number.POSITIVE_INFINITY;
  /** How far the clock was set forward since the last look. Milliseconds. */
  #leapMs = 0;

  constructor(options: WatcherOptions) {
    this.#options = options;
  }

  /** What the last look said. */
  last(): Look {
    return this.#last;
  }

  /** A look is under way. */
  isLooking(): boolean {
    return this.#isLooking;
  }

  setPace(pace: Pace): void {
    if (pace === this.#pace) return;
    this.#pace = pace;
    if (pace === "eager") this.nudge();
  }

  /** Something just happened to the machine: look now, and often for a while. Also the start. */
  nudge(): void {
    if (this.#isClosed) return;
    this.#pauseMs = EAGER_FIRST_MS;
    if (this.#isLooking) {
      this.#isLookWanted = true;
      return;
    }
    this.#timer?.cancel();
    void this.#look();
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    const begunAt = this.#options.now();
    this.#leapMs = leapOf(begunAt - this.#dueAt);
    const look = await this.#options.look();
    const tookMs = this.#options.now() - begunAt;
    this.#isLooking = false;
    if (this.#isClosed) return;
    this.#leapMs += leapOf(tookMs);
    this.#take(look);
    if (this.#isLookWanted) {
      this.#isLookWanted = false;
      void this.#look();
      return;
    }
    // The clock may jump. How long no answer came says nothing.
    const perLook = this.#options.isCrowded() ? CROWDED_PAUSE_PER_LOOK : PAUSE_PER_LOOK;
    const least = look.kind === "silent" ? 0 : Math.min(Math.max(0, tookMs) * perLook, EAGER_LONGEST_MS * 2);
    const pauseMs = Math.max(this.#nextPause(), least);
    this.#dueAt = this.#options.now() + pauseMs;
    this.#timer = this.#options.timers.schedule(pauseMs, () => void this.#look());
  }

  #take(look: Look): void {
    const before = this.#last;
    if (look.kind === "silent" && before.kind === "running" && !this.#isForgiven) {
      this.#isForgiven = true;
      this.#pauseMs = SECOND_CHANCE_MS;
      return;
    }
    this.#isForgiven = false;
    // A clock that was set back meanwhile begins to count anew: a time still to come would be no beginning.
    const goesOn = look.kind === "silent" && before.kind === "silent" && before.since <= look.at;
    this.#last = goesOn ? { ...look, since: Math.min(look.at, before.since + this.#leapMs) } : look;
    if (isSameLook(before, this.#last)) return;
    this.#pauseMs = isSameStep(before, this.#last) ? Math.min(this.#pauseMs, GOES_ON_MS) : EAGER_FIRST_MS;
    this.#options.onChange(this.#last);
  }

  #nextPause(): number {
    if (this.#isForgiven) return SECOND_CHANCE_MS;
    if (this.#pace === "settled") return SETTLED_MS * (1 + this.#options.random.fraction());
    const pause = this.#options.isCrowded() ? Math.max(this.#pauseMs, CROWDED_LEAST_MS) : this.#pauseMs;
    const longest = this.#last.kind === "maintenance" ? WAITING_LONGEST_MS : EAGER_LONGEST_MS;
    this.#pauseMs = Math.min(longest, pause * EAGER_GROWTH);
    return pause;
  }
}

/** What a timer that was late by so much tells of the clock. A process that stood still looks the same: silence that nobody watched is not counted either. */
function leapOf(lateMs: number): number {
  return lateMs > NEVER_SO_LATE_MS ? lateMs : 0;
}
