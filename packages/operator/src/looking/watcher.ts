import type { RandomSource, ScheduledTimer, Timers } from "@talos-operator/ports";
import { isLearner, isSameLook, isSameStep, isStartedAgain, isUnread, isWell, serves } from "./look.ts";
import type { Look } from "../model/look.ts";

/**
 * How often a machine is looked at: `eager` while something is expected of it, `beside` while something is expected of another machine of its cluster,
 * `settled` when all are as they should be.
 */
export type Pace = "eager" | "beside" | "settled";

/** First and longest pause between looks while something is expected. */
const EAGER_FIRST_MS = 50;
const EAGER_LONGEST_MS = 2_000;
const EAGER_GROWTH = 1.5;

/** A machine that comes up tells of one condition after another. Each shows that it goes on, none that it is about to be ready: the pause is cut to this. */
const GOES_ON_MS = 500;

/** With very many machines nobody notices a quarter of a second, and each look that shows nothing new costs all the others. */
const CROWDED_LEAST_MS = 250;

/** Longest pause between looks at a machine that is well while another is waited for: what that one does to it is told by {@link Watcher.glance}. */
const BESIDE_LONGEST_MS = 8_000;

/** A machine in maintenance mode waits for us, not we for it: this is the longest pause between looks at it. */
const WAITING_LONGEST_MS = 10_000;

/** The pause is at least this many times as long as a look took that was answered: while this process is busy everybody is asked less often. */
const PAUSE_PER_LOOK = 1;
const CROWDED_PAUSE_PER_LOOK = 4;

/**
 * Longest pause between looks at a machine that is as it should be, and how much shorter it may be, so that machines are not all asked at once: what it says
 * of itself is known within a minute. That it went away is found out sooner, by its `Pulse`.
 */
const SETTLED_MS = 56_000;
const SETTLED_SHORTER_BY = 1 / 10;

/** A look that begins so much later than planned, or takes so long, does so because the clock was set forward. */
const NEVER_SO_LATE_MS = 30_000;

/** A machine that answered until now is asked once more before it is called silent. */
const SECOND_CHANCE_MS = 500;

/** A member of etcd is asked again for as long before it is said to tell nothing, or to have no leader: many writes, an election or a promotion bring that about. */
const PASSING_MS = 6_000;

/** An etcd that is started again runs for as long before that counts. */
const STARTED_AGAIN_MS = 10_000;

/** What a watcher needs. */
export interface WatcherOptions {
  /** One look; must end by itself and never throw. */
  readonly look: () => Promise<Look>;
  /** Called when a look says something else than the one before. */
  readonly onChange: (look: Look, before: Look) => void;
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
 * While something is expected the pause grows from 50 ms to 2 s (to 10 s in maintenance mode, to 8 s for a machine that is well beside one of which something
 * is expected) and starts anew with each change; with very many machines it is 250 ms at least.
 */
export class Watcher {
  readonly #options: WatcherOptions;
  #last: Look = { kind: "not-asked" };
  #pace: Pace = "eager";
  #pauseMs = EAGER_FIRST_MS;
  #timer: ScheduledTimer | undefined;
  #isLooking = false;
  #isLookWanted = false;
  /** When the first of the looks in a row was that was not believed. */
  #forgivenSince: number | undefined;
  /** When its etcd was last seen waiting to be started again. */
  #waitedAt = Number.NEGATIVE_INFINITY;
  /** The last look was not believed, for its etcd may end at once: soon it shows again what it was. */
  #isHeld = false;
  #isDoubted = false;
  #doubt = new AbortController();
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
    const before = this.#pace;
    if (pace === before) return;
    this.#pace = pace;
    if (pace === "eager") this.nudge();
    if (pace === "beside" && before === "settled") {
      this.#pauseMs = EAGER_LONGEST_MS;
      this.#lookNow();
    }
  }

  /** Something just happened to the machine: look now, and often for a while. Also the start. */
  nudge(): void {
    this.#pauseMs = EAGER_FIRST_MS;
    this.#lookNow();
  }

  /** Something happened to another machine that this one may show too: one that is looked at seldom is looked at now, and no oftener than before. */
  glance(): void {
    if (this.#pauseMs > EAGER_LONGEST_MS) this.#lookNow();
  }

  /** It took no connection, more than once: look now, and believe silence at once. */
  doubt(): void {
    this.#isDoubted = true;
    this.#doubt.abort();
    this.#doubt = new AbortController();
    this.#lookNow();
  }

  /** Aborts at the next {@link doubt}: whoever asks through another machine need not wait for the end of that. */
  untilDoubted(): AbortSignal {
    return this.#doubt.signal;
  }

  /** The next look is one of {@link doubt}. */
  isDoubted(): boolean {
    return this.#isDoubted;
  }

  #lookNow(): void {
    if (this.#isClosed) return;
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
    if (!this.#isLookWanted) this.#isDoubted = false;
    if (this.#isLookWanted) {
      this.#isLookWanted = false;
      void this.#look();
      return;
    }
    // The clock may jump. How long no answer came says nothing.
    const perLook = this.#options.isCrowded() ? CROWDED_PAUSE_PER_LOOK : PAUSE_PER_LOOK;
    const least = look.kind === "silent" || this.#isHeld ? 0 : Math.min(Math.max(0, tookMs) * perLook, EAGER_LONGEST_MS * 2);
    const pauseMs = Math.max(this.#nextPause(), least);
    this.#dueAt = this.#options.now() + pauseMs;
    this.#timer = this.#options.timers.schedule(pauseMs, () => void this.#look());
  }

  #take(look: Look): void {
    const before = this.#last;
    if (isUnread(look, before) && !this.#isBelieved(look)) {
      this.#forgivenSince ??= this.#options.now();
      this.#pauseMs = SECOND_CHANCE_MS;
      return;
    }
    this.#forgivenSince = undefined;
    if (look.kind === "running" && look.etcd?.service === "Waiting") this.#waitedAt = this.#options.now();
    this.#isHeld = isStartedAgain(look, before) && isWithin(this.#options.now() - this.#waitedAt, STARTED_AGAIN_MS);
    if (this.#isHeld) return;
    this.#last = this.#continued(look, before);
    if (isSameLook(before, this.#last)) return;
    this.#pauseMs = isSameStep(before, this.#last) ? Math.min(this.#pauseMs, GOES_ON_MS) : EAGER_FIRST_MS;
    this.#options.onChange(this.#last, before);
  }

  /** It is no passing thing any more. Silence is believed the second time, what etcd does not tell after a while. */
  #isBelieved({ kind }: Look): boolean {
    const since = this.#forgivenSince;
    if (kind === "silent") return this.#isDoubted || since !== undefined;
    return since !== undefined && !isWithin(this.#options.now() - since, PASSING_MS);
  }

  /** The look with the beginning of what it shows, if the look before showed it, too. */
  #continued(look: Look, before: Look): Look {
    if (look.kind === "running" && look.etcd !== undefined && !serves(look.etcd)) {
      const isSame = before.kind === "running" && before.etcd !== undefined && isLearner(before.etcd) === isLearner(look.etcd);
      const since = isSame ? before.etcdUnwellSince : undefined;
      // As below: a time still to come would be no beginning.
      return { ...look, etcdUnwellSince: since === undefined || since > look.at ? look.at : Math.min(look.at, since + this.#leapMs) };
    }
    const isSilence = look.kind === "silent" && before.kind === "silent";
    const isWaiting = look.kind === "maintenance" && before.kind === "maintenance" && look.spki === before.spki;
    // A clock that was set back meanwhile begins to count anew: a time still to come would be no beginning.
    if (!(isSilence || isWaiting) || before.since > look.at) return look;
    return { ...look, since: Math.min(look.at, before.since + this.#leapMs) };
  }

  #nextPause(): number {
    if (this.#forgivenSince !== undefined || this.#isHeld) return SECOND_CHANCE_MS;
    if (this.#pace === "settled") return SETTLED_MS * (1 - SETTLED_SHORTER_BY * this.#options.random.fraction());
    const pause = this.#options.isCrowded() ? Math.max(this.#pauseMs, CROWDED_LEAST_MS) : this.#pauseMs;
    this.#pauseMs = Math.min(this.#longestPause(), pause * EAGER_GROWTH);
    return pause;
  }

  #longestPause(): number {
    if (this.#last.kind === "maintenance") return WAITING_LONGEST_MS;
    return this.#pace === "beside" && isWell(this.#last) ? BESIDE_LONGEST_MS : EAGER_LONGEST_MS;
  }
}

/** The clock may have been set back, and then it is not known. */
function isWithin(elapsedMs: number, limitMs: number): boolean {
  return elapsedMs >= 0 && elapsedMs < limitMs;
}

/** What a timer that was late by so much tells of the clock. A process that stood still looks the same: silence that nobody watched is not counted either. */
function leapOf(lateMs: number): number {
  return lateMs > NEVER_SO_LATE_MS ? lateMs : 0;
}
