import type { Timers } from "@talos-operator/ports";

/** How many requests a client may send. */
export interface FlowControl {
  /** In the long run. Above 0. */
  readonly perSecond: number;
  /** At once after a quiet time. 1 or more. */
  readonly burst: number;
}

/** A gate before each request. */
export interface FlowGate {
  /** Resolves when a request may be sent, in the order of the calls. Rejects with the signal's reason. */
  enter(signal: AbortSignal | undefined): Promise<void>;
}

/**
 * A bucket of `burst` tokens that fills by `perSecond`. It counts by a timer, which runs only while the bucket is not full.
 *
 * @throws RangeError for rates that let nothing through
 */
export function createFlowGate(timers: Timers, { perSecond, burst }: FlowControl): FlowGate {
  if (!(perSecond > 0) || !(burst >= 1)) throw new RangeError("flow control needs perSecond above 0 and burst of 1 or more");
  let tokens = Math.floor(burst);
  let isFilling = false;
  const waiting = new Set<() => void>();

  function fill(): void {
    if (isFilling) return;
    isFilling = true;
    timers.schedule(1000 / perSecond, () => {
      isFilling = false;
      const [next] = waiting;
      if (next === undefined) tokens += 1;
      else next();
      if (tokens < Math.floor(burst) || waiting.size > 0) fill();
    });
  }

  return {
    enter(signal) {
      if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
      if (tokens > 0) {
        tokens -= 1;
        fill();
        return Promise.resolve();
      }
      return new Promise((resolve, reject) => {
        const onAbort = (): void => {
          waiting.delete(go);
          reject(signal?.reason as Error);
        };
        const go = (): void => {
          waiting.delete(go);
          signal?.removeEventListener("abort", onAbort);
          resolve();
        };
        waiting.add(go);
        signal?.addEventListener("abort", onAbort, { once: true });
      });
    },
  };
}
