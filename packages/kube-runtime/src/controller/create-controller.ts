import { KubeApiError } from "../client/kube-api-error.ts";
import { keyText, parseKey } from "../objects/kube-object.ts";
import { createWorkqueue } from "../queue/workqueue.ts";
import type { Controller, ControllerOptions, ReconcileContext, ReconcileResult } from "./types.ts";

interface RunningPass {
  readonly startedAt: number;
  step: string | undefined;
  isOverdue: boolean;
}

/**
 * Makes a controller: declared watches feed a workqueue, workers take keys and reconcile them.
 *
 * A key is never reconciled twice at once. What a pass throws concerns its key alone: the key comes round again after its own backoff,
 * all others go on. A pass that ends well resets the backoff and may name the time of the next look.
 */
export function createController(options: ControllerOptions): Controller {
  const { name, clock, timers, random, workers = 4, passTimeoutMs = 120_000 } = options;
  const log = options.log.child({ controller: name });
  const queue = createWorkqueue({ clock, timers, random, ...(options.backoff === undefined ? {} : { backoff: options.backoff }) });
  const running = new Map<string, RunningPass>();
  let passes = 0;
  let succeeded = 0;
  let failed = 0;

  async function pass(key: string, stop: AbortSignal): Promise<void> {
    passes += 1;
    const { namespace, name: objectName } = parseKey(key);
    const passLog = log.child({ reconcileId: `${name}-${passes}`, ...(namespace === undefined ? {} : { namespace }), name: objectName });
    const state: RunningPass = { startedAt: clock.now(), step: undefined, isOverdue: false };
    const abort = new AbortController();
    const onStop = (): void => abort.abort(stop.reason);
    stop.addEventListener("abort", onStop, { once: true });
    if (stop.aborted) onStop();
    const deadline = timers.schedule(passTimeoutMs, () => {
      state.isOverdue = true;
      passLog.warn({ timeoutMs: passTimeoutMs, action: state.step }, "Reconcile exceeds its deadline");
      abort.abort(new KubeApiError("CANCELED", { call: `reconcile ${key}`, detail: `the pass took longer than ${passTimeoutMs} ms` }));
    });
    running.set(key, state);
    const context: ReconcileContext = {
      signal: abort.signal,
      log: passLog,
      failures: queue.failures(key),
      note: (step) => {
        state.step = step;
      },
    };
    try {
      // The call itself is inside the promise, so that a reconciler that throws before its first await is no different.
      settle(key, await Promise.resolve().then(() => options.reconcile(parseKey(key), context)));
    } catch (err) {
      if (!stop.aborted) giveBack(key, err, context);
    } finally {
      deadline.cancel();
      stop.removeEventListener("abort", onStop);
      running.delete(key);
      queue.done(key);
    }
  }

  function settle(key: string, result: ReconcileResult | undefined | void): void {
    succeeded += 1;
    queue.forget(key);
    const after = result?.requeueAfterMs;
    if (after !== undefined) queue.addAfter(key, Math.max(0, after));
  }

  function giveBack(key: string, err: unknown, context: ReconcileContext): void {
    failed += 1;
    const retryInMs = Math.round(queue.addRateLimited(key));
    const facts = { err, attempt: context.failures + 1, retryInMs };
    // A conflict is everyday life: somebody else wrote first, and the next pass sees it.
    if (err instanceof KubeApiError && err.retry === "now") context.log.debug(facts, "Reconcile will be repeated");
    else if (err instanceof KubeApiError && err.retry === "backoff") context.log.warn(facts, "Reconcile failed and will be repeated");
    else context.log.error(facts, "Reconcile failed");
  }

  async function work(stop: AbortSignal): Promise<void> {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) await pass(key, stop);
  }

  return {
    name,
    enqueue: (key, delayMs = 0) => queue.addAfter(keyText(key), delayMs),
    async run(signal) {
      const ends = options.watches.map((watch) => watch.start((key) => queue.add(keyText(key))));
      const close = (): void => queue.close();
      signal.addEventListener("abort", close, { once: true });
      if (signal.aborted) close();
      try {
        await Promise.all(options.watches.map((watch) => watch.waitForSync(signal)));
        await Promise.all(Array.from({ length: workers }, () => work(signal)));
      } catch (thrown) {
        if (!signal.aborted) throw thrown;
      } finally {
        for (const end of ends) end();
        signal.removeEventListener("abort", close);
        queue.close();
      }
    },
    stuck: () =>
      [...running]
        .filter(([, state]) => state.isOverdue)
        .map(([key, state]) => ({ key: parseKey(key), runningForMs: clock.now() - state.startedAt, step: state.step })),
    stats: () => ({ queue: queue.stats(), succeeded, failed }),
  };
}
