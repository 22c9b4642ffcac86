import type { Timers } from "@talos-operator/ports";

/**
 * Runs `work` with a signal that aborts after `timeoutMs` or with `outer`. The whole call counts, waits between retries included.
 */
export async function withDeadline<T>(
  timers: Timers,
  timeoutMs: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  const onOuter = (): void => abort.abort(outer?.reason);
  outer?.addEventListener("abort", onOuter, { once: true });
  if (outer?.aborted === true) onOuter();
  const timer = timers.schedule(timeoutMs, () => abort.abort(new Error(`no answer within ${timeoutMs} ms`)));
  try {
    return await work(abort.signal);
  } finally {
    timer.cancel();
    outer?.removeEventListener("abort", onOuter);
  }
}
