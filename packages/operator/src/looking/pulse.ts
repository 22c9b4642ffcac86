import type { RandomSource, ScheduledTimer, Timers } from "@talos-operator/ports";

/** Longest pause between two touches, and how much shorter it may be, so that machines are not all touched at once. */
const PAUSE_MS = 6_000;
const SHORTER_BY = 1 / 6;

/** How long a touch waits: a first packet that was lost is sent again after one second. */
const TOUCH_TIMEOUT_MS = 1_500;

/** After a touch that failed. */
const AGAIN_MS = 500;

/** What a pulse needs. */
export interface PulseOptions {
  /** Whether the machine takes a connection within so many milliseconds. Never throws. */
  readonly touch: (timeoutMs: number) => Promise<boolean>;
  /** Two touches in a row failed. */
  readonly onLost: () => void;
  /** One touch failed, and the next did not: the machine may have booted in between. */
  readonly onBack: () => void;
  readonly timers: Timers;
  readonly random: RandomSource;
}

/**
 * Touches a machine that is looked at seldom, to find out soon that it went away.
 *
 * Neither a machine that loses power nor one that boots by kexec says so on the connections that it had, and apid takes no pings more often than every five
 * minutes. A touch is far cheaper than a look, and says less: nothing is reported for it, it only brings the next look forward.
 */
export class Pulse {
  readonly #options: PulseOptions;
  /** What goes on now; another one when it was stopped and begun meanwhile. */
  #beating: { timer: ScheduledTimer | undefined; hasFailed: boolean } | undefined;

  constructor(options: PulseOptions) {
    this.#options = options;
  }

  /** Goes on if it beats already. */
  begin(): void {
    if (this.#beating !== undefined) return;
    this.#beating = { timer: undefined, hasFailed: false };
    this.#schedule(PAUSE_MS * this.#options.random.fraction());
  }

  stop(): void {
    this.#beating?.timer?.cancel();
    this.#beating = undefined;
  }

  #schedule(pauseMs: number): void {
    if (this.#beating !== undefined) this.#beating.timer = this.#options.timers.schedule(pauseMs, () => void this.#beat());
  }

  async #beat(): Promise<void> {
    const beating = this.#beating;
    const isReached = await this.#options.touch(TOUCH_TIMEOUT_MS);
    if (beating === undefined || this.#beating !== beating) return;
    const hadFailed = beating.hasFailed;
    beating.hasFailed = !isReached && !hadFailed;
    this.#schedule(beating.hasFailed ? AGAIN_MS : PAUSE_MS * (1 - SHORTER_BY * this.#options.random.fraction()));
    if (!hadFailed) return;
    if (isReached) this.#options.onBack();
    else this.#options.onLost();
  }
}
