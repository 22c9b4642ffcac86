import { isStopInOrder } from "@talos-operator/kube-runtime";
import { EffectError } from "../errors.ts";

/** What the effects of one pass send, and when they are to give up. */
export interface Sends {
  /** Aborts when the pass is to end, but not before what was sent has ended, where there is time for that. */
  readonly signal: AbortSignal;
  /** Makes a call that changes something. @throws EffectError `NOT_LEADING` when this process is about to end: nothing new is sent then */
  letEnd<T>(call: () => Promise<T>): Promise<T>;
}

/**
 * A machine may carry out a call under the call itself, as it does a Bootstrap: whoever hangs up in the middle leaves it half done. So a process that is told to
 * stop lets end what it sent, and sends nothing more. That takes no longer than the deadline of the call, which is below what is left of the lease; the
 * lease is held and renewed meanwhile. Whoever lost the lease, or is over time, hangs up at once.
 */
export function createSends(pass: AbortSignal): Sends {
  const over = new AbortController();
  let underWay = 0;
  const end = (): void => over.abort(pass.reason);
  const onAbort = (): void => {
    if (underWay === 0 || !isStopInOrder(pass.reason)) end();
  };
  pass.addEventListener("abort", onAbort, { once: true });
  if (pass.aborted) onAbort();
  return {
    signal: over.signal,
    async letEnd(call) {
      if (pass.aborted) throw new EffectError("NOT_LEADING", "this process is about to end");
      underWay += 1;
      try {
        return await call();
      } finally {
        underWay -= 1;
        if (underWay === 0 && pass.aborted) end();
      }
    },
  };
}
