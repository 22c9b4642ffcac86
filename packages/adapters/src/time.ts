import type { Clock, ScheduledTimer, Timers } from "@talos-operator/ports";

/** The computer's clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** Time of the processor that this thread has used, milliseconds: neighbours on a busy machine do not count, nor does a clock that is set. */
export function threadWorkedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Longest delay that Node's timers take; longer ones would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Node's timers. They keep the process alive while they wait; delays beyond 24.8 days are waited for in steps. */
export const systemTimers: Timers = {
  sleep(delayMs, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(abortReason(signal));
        return;
      }
      const onAbort = (): void => {
        timer.cancel();
        reject(abortReason(signal));
      };
      const timer = schedule(delayMs, () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  },
  schedule,
};

function schedule(delayMs: number, callback: () => void): ScheduledTimer {
  let handle: NodeJS.Timeout | undefined;
  const arm = (remainingMs: number): void => {
    const stepMs = Math.min(remainingMs, LONGEST_TIMER_MS);
    handle = setTimeout(() => (remainingMs > stepMs ? arm(remainingMs - stepMs) : callback()), stepMs);
  };
  arm(Math.max(0, delayMs));
  return { cancel: () => clearTimeout(handle) };
}

function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error(`aborted: ${String(reason)}`);
}
