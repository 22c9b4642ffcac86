import type { SpanAttributes } from "@talos-operator/ports";
import { KubeApiError } from "../client/kube-api-error.ts";
import { createControllerMetrics, type ReconcileOutcome } from "../metrics/controller-metrics.ts";
import { keyText, parseKey } from "../objects/kube-object.ts";
import { createWorkqueue } from "../queue/workqueue.ts";
import { silentTracer } from "../tracing/silent-tracer.ts";
import { createOwnWrites } from "./own-writes.ts";
import type { Controller, ControllerOptions, ReconcileContext, ReconcileResult, RunningPass } from "./types.ts";

interface PassState {
  readonly startedAt: number;
  step: string | undefined;
  isOverdue: boolean;
  /** Seconds since then, counted by a timer: the wall clock may be set back, and would hide that the pass hangs. */
  overdueSeconds: number;
}

/**
 * Makes a controller: declared watches feed a workqueue, workers take keys and reconcile them.
 *
 * A key is never reconciled twice at once. What a pass throws concerns its key alone: the key comes round again after its own backoff,
 * all others go on. A pass that ends well resets the backoff and may name the time of the next look.
 *
 * New work goes ahead of the flood of the first list. A key keeps its priority when it fails or asks to be looked at again without a word on it.
 */
export function createController(options: ControllerOptions): Controller {
  const { name, clock, timers, random, groupOf, workers = 4, passTimeoutMs = 120_000, tracer = silentTracer } = options;
  const log = options.log.child({ controller: name });
  const running = new Map<string, PassState>();
  const stuck = () => [...running].filter(([, state]) => state.isOverdue);
  const metrics =
    options.metrics === undefined
      ? undefined
      : createControllerMetrics(options.metrics, name, workers, () => ({
          queue: queue.stats(),
          activeWorkers: running.size,
          stuck: stuck().length,
        }));
  const queue = createWorkqueue({
    clock,
    timers,
    random,
    ...(options.backoff === undefined ? {} : { backoff: options.backoff }),
    ...(groupOf === undefined ? {} : { groupOf: (key: string) => groupOf(parseKey(key)) }),
    ...(metrics === undefined ? {} : { observer: metrics.queue }),
  });
  const ownWrites = createOwnWrites(log);
  let passes = 0;
  let succeeded = 0;
  let failed = 0;

  async function pass(key: string, stop: AbortSignal): Promise<void> {
    passes += 1;
    const { namespace, name: objectName } = parseKey(key);
    const reconcileId = `${name}-${passes}`;
    const passLog = log.child({
      reconcileId,
      ...(namespace === undefined ? {} : { namespace }),
      name: objectName,
      ...options.logFields?.(parseKey(key)),
    });
    const state: PassState = { startedAt: clock.now(), step: undefined, isOverdue: false, overdueSeconds: 0 };
    const abort = new AbortController();
    const onStop = (): void => abort.abort(stop.reason);
    stop.addEventListener("abort", onStop, { once: true });
    if (stop.aborted) onStop();
    const count = (): void => {
      state.overdueSeconds += 1;
      // Once told to stop, the process may end without this pass: no timer keeps it.
      if (!stop.aborted) deadline = timers.schedule(1000, count);
    };
    let deadline = timers.schedule(passTimeoutMs, () => {
      state.isOverdue = true;
      deadline = timers.schedule(1000, count);
      metrics?.onTimeout();
      passLog.warn({ timeoutMs: passTimeoutMs, action: state.step }, "Reconcile exceeds its deadline");
      abort.abort(new KubeApiError("CANCELED", { call: `reconcile ${key}`, detail: `the pass took longer than ${passTimeoutMs} ms` }));
    });
    running.set(key, state);
    const context: Omit<ReconcileContext, "span"> = {
      signal: abort.signal,
      log: passLog,
      failures: queue.failures(key),
      note: (step) => {
        state.step = step;
      },
      wrote: (informer, written) => ownWrites.expect(key, informer, written),
    };
    const attributes = { controller: name, "k8s.namespace.name": namespace, "k8s.object.name": objectName, "reconcile.id": reconcileId };
    const reconcile = (): Promise<ReconcileResult | undefined | void> =>
      tracer.inSpan(`reconcile ${name}`, attributes, (span) => options.reconcile(parseKey(key), { ...context, span }), outcomeOf);
    let outcome: ReconcileOutcome | undefined;
    let isFault = false;
    let thrown: unknown;
    try {
      // The call itself is inside the promise, so that a reconciler that throws before its first await is no different.
      outcome = settle(key, await Promise.resolve().then(reconcile));
    } catch (err) {
      if (!stop.aborted) {
        thrown = err;
        outcome = giveBack(key, err, context);
        isFault = isProgramFault(err);
      }
    } finally {
      deadline.cancel();
      stop.removeEventListener("abort", onStop);
      running.delete(key);
      if (outcome !== undefined) {
        const tookMs = clock.now() - state.startedAt;
        metrics?.onPass(outcome, tookMs, isFault);
        options.onPass?.(name, tookMs, thrown);
      }
      // The key stays held until the cache shows what the pass wrote: it must not decide on less than it knows itself.
      const caughtUp = ownWrites.seen(key, stop);
      if (caughtUp === undefined) queue.done(key);
      else void caughtUp.then(() => queue.done(key));
    }
  }

  function settle(key: string, result: ReconcileResult | undefined | void): ReconcileOutcome {
    succeeded += 1;
    queue.forget(key);
    const after = result?.requeueAfterMs;
    if (after === undefined) return "success";
    queue.addAfter(key, Math.max(0, after), result?.priority ?? queue.priorityOf(key));
    return "requeue_after";
  }

  function giveBack(key: string, err: unknown, context: Pick<ReconcileContext, "failures" | "log">): ReconcileOutcome {
    failed += 1;
    const retryInMs = Math.round(queue.addRateLimited(key));
    const facts = { err, attempt: context.failures + 1, retryInMs };
    // A conflict is everyday life: somebody else wrote first, and the next pass sees it.
    if (err instanceof KubeApiError && err.retry === "now") context.log.debug(facts, "Reconcile will be repeated");
    else if (err instanceof KubeApiError && err.retry === "backoff") context.log.warn(facts, "Reconcile failed and will be repeated");
    else context.log.error(facts, "Reconcile failed");
    return "error";
  }

  const overdueForMs = (state: PassState): number => state.overdueSeconds * 1000;

  const report = ([key, state]: readonly [string, PassState]): RunningPass => ({
    key: parseKey(key),
    runningForMs: state.isOverdue ? passTimeoutMs + overdueForMs(state) : Math.max(0, clock.now() - state.startedAt),
    step: state.step,
  });

  async function work(stop: AbortSignal): Promise<void> {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) await pass(key, stop);
  }

  return {
    name,
    enqueue: (key, delayMs = 0, priority = "normal") => queue.addAfter(keyText(key), delayMs, priority),
    async run(signal) {
      const ends = options.watches.map((watch) => watch.start((key, priority) => queue.add(keyText(key), priority)));
      const close = (): void => queue.close();
      signal.addEventListener("abort", close, { once: true });
      if (signal.aborted) close();
      try {
        await Promise.all(options.watches.map((watch) => watch.waitForSync(signal)));
        await Promise.all(Array.from({ length: workers }, () => work(signal)));
        await ownWrites.settled();
      } catch (thrown) {
        if (!signal.aborted) throw thrown;
      } finally {
        for (const end of ends) end();
        signal.removeEventListener("abort", close);
        queue.close();
        metrics?.close();
      }
    },
    running: () => [...running].map(report),
    stuck: () => stuck().map((entry) => ({ ...report(entry), overdueForMs: overdueForMs(entry[1]) })),
    stats: () => ({ queue: queue.stats(), succeeded, failed, catchingUp: ownWrites.size }),
  };
}

/** What the span of a pass that ended well says of its end. */
function outcomeOf(result: ReconcileResult | undefined | void): SpanAttributes {
  const after = result?.requeueAfterMs;
  return { outcome: after === undefined ? "success" : "requeue_after", "requeue.after_ms": after };
}

/** A mistake in the program rather than in the world: what would be a panic elsewhere. */
function isProgramFault(err: unknown): boolean {
  return err instanceof TypeError || err instanceof RangeError || err instanceof ReferenceError || err instanceof SyntaxError;
}
