import type { Clock, HeldUntil, RandomSource, ScheduledTimer, Timers } from "@talos-operator/ports";

/** Machines are not all connected to at once. */
const BEGIN_WITHIN_MS = 6_000;

/** How long a connection may take: a first packet that was lost is sent again after one second. */
const CONNECT_TIMEOUT_MS = 1_500;

/** After a connection that ended before its time. */
const AGAIN_MS = 500;

/** After a machine was found gone. */
const GONE_PAUSE_MS = 5_000;

/** A machine takes a connection on which nothing is said for two minutes. One that it ends near the end of them ended for that. */
const ITS_TIME_MS = 100_000;

/** Twice in a row so short: somebody on the way takes connections and ends them. That it does so again tells nothing of the machine. */
const SHORT_MS = 30_000;

/** What a pulse needs. */
export interface PulseOptions {
  /** Connects to the machine and resolves when the connection ends, see `TalosDialer.hold`. Never throws. */
  readonly hold: (options: { readonly timeoutMs: number; readonly signal: AbortSignal }) => Promise<HeldUntil>;
  /** Whether the machine takes a connection within so many milliseconds. Never throws. */
  readonly reaches: (timeoutMs: number) => Promise<boolean>;
  /** It took no connection twice in a row, or fell silent on the one that it had. */
  readonly onLost: () => void;
  /** Its connection ended before its time, and it takes another one: the machine may have booted in between. */
  readonly onBack: () => void;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
}

/**
 * Holds a connection to a machine that is looked at seldom, to find out soon that it went away.
 *
 * Neither a machine that loses power nor one that boots by kexec says so on the connections that it had, and apid takes no pings more often than every five
 * minutes. The systems of both sides find it out by themselves, at no cost. It says less than a look: nothing is reported for it, it only brings the next look
 * forward.
 */
export class Pulse {
  readonly #options: PulseOptions;
  /** What goes on now; another one when it was stopped and begun meanwhile. */
  #beating: { timer: ScheduledTimer | undefined; wasShort: boolean; readonly abort: AbortController } | undefined;

  constructor(options: PulseOptions) {
    this.#options = options;
  }

  /** Goes on if it beats already. */
  begin(): void {
    if (this.#beating !== undefined) return;
    this.#beating = { timer: undefined, wasShort: false, abort: new AbortController() };
    this.#after(BEGIN_WITHIN_MS * this.#options.random.fraction(), () => this.#hold());
  }

  stop(): void {
    const beating = this.#beating;
    this.#beating = undefined;
    beating?.timer?.cancel();
    beating?.abort.abort();
  }

  #after(pauseMs: number, next: () => Promise<void>): void {
    if (this.#beating !== undefined) this.#beating.timer = this.#options.timers.schedule(pauseMs, () => void next());
  }

  async #hold(): Promise<void> {
    const beating = this.#beating;
    if (beating === undefined) return;
    const { hold, clock, onLost } = this.#options;
    const since = clock.now();
    const end = await hold({ timeoutMs: CONNECT_TIMEOUT_MS, signal: beating.abort.signal });
    if (this.#beating !== beating) return;
    const heldMs = clock.now() - since;
    const { wasShort } = beating;
    beating.wasShort = end === "closed" && heldMs < SHORT_MS;
    if (end === "silent") {
      this.#after(GONE_PAUSE_MS, () => this.#ask());
      onLost();
    } else if (end === "closed" && heldMs >= ITS_TIME_MS) this.#after(0, () => this.#hold());
    else if (beating.wasShort && wasShort) this.#after(GONE_PAUSE_MS, () => this.#hold());
    else this.#after(AGAIN_MS, () => this.#ask());
  }

  /** After a connection that ended before its time, or was never taken. */
  async #ask(): Promise<void> {
    const beating = this.#beating;
    const { reaches, onBack, onLost } = this.#options;
    const isReached = await reaches(CONNECT_TIMEOUT_MS);
    if (beating === undefined || this.#beating !== beating) return;
    if (isReached) {
      this.#after(0, () => this.#hold());
      onBack();
    } else {
      this.#after(GONE_PAUSE_MS, () => this.#ask());
      onLost();
    }
  }
}
