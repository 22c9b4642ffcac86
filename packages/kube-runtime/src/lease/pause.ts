import type { Timers } from "@talos-operator/ports";

/** A pause that can be ended early. */
export interface Pause {
  /** Ends the pause, or the next one when none is under way. */
  readonly wake: () => void;
  /** From now on only a new `wake` counts. */
  forget(): void;
  /** Resolves after `pauseMs`, when woken, or when the signal aborts; never rejects. */
  wait(pauseMs: number): Promise<void>;
}

/** Pauses of one waiter, one at a time. */
export function createPause(timers: Timers, signal: AbortSignal): Pause {
  let isWoken = false;
  let end: (() => void) | undefined;
  const wake = (): void => {
    isWoken = true;
    end?.();
  };
  return {
    wake,
    forget() {
      isWoken = false;
    },
    wait: (pauseMs) =>
      new Promise((resolve) => {
        if (isWoken || signal.aborted) {
          resolve();
          return;
        }
        const timer = timers.schedule(pauseMs, () => end?.());
        end = () => {
          end = undefined;
          timer.cancel();
          signal.removeEventListener("abort", wake);
          resolve();
        };
        signal.addEventListener("abort", wake, { once: true });
      }),
  };
}
