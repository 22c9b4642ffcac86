import type { WorkqueueObserver, WorkqueueStats } from "../queue/types.ts";
import type { MetricsRegistry } from "./types.ts";

/** How a pass ended, in the words of controller-runtime. */
export type ReconcileOutcome = "success" | "requeue_after" | "error";

/** What a controller reports. */
export interface ControllerMetrics {
  readonly queue: WorkqueueObserver;
  /** @param isFault a fault of the program (a TypeError and its like), which controller-runtime would count as a panic */
  onPass(outcome: ReconcileOutcome, tookMs: number, isFault: boolean): void;
  onTimeout(): void;
  /** No more figures: gauges go to 0. */
  close(): void;
}

/** What is read when the metrics are collected. */
export interface ControllerFigures {
  readonly queue: WorkqueueStats;
  readonly activeWorkers: number;
  readonly stuck: number;
}

/** Bounds of controller-runtime's `controller_runtime_reconcile_time_seconds`, so that its dashboards fit. */
const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5,
  5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
/** Decades as in controller-runtime, without those below a microsecond, which no clock here resolves. */
const queueBuckets = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000];

/** Series of one controller under the names that controller-runtime uses. */
export function createControllerMetrics(
  registry: MetricsRegistry,
  controller: string,
  workers: number,
  read: () => ControllerFigures,
): ControllerMetrics {
  const queueLabels = { name: controller, controller };
  const labels = ["name", "controller"];
  const own = { controller };
  const counter = (name: string, help: string) => registry.counter({ name, help, labels }).with(queueLabels);
  const gauge = (name: string, help: string) => registry.gauge({ name, help, labels }).with(queueLabels);
  const seconds = (name: string, help: string) => registry.histogram({ name, help, labels, buckets: queueBuckets }).with(queueLabels);

  const depthFamily = registry.gauge({ name: "workqueue_depth", help: "Keys that wait to be taken.", labels: [...labels, "priority"] });
  const depth = {
    normal: depthFamily.with({ ...queueLabels, priority: "0" }),
    low: depthFamily.with({ ...queueLabels, priority: "-100" }),
  };
  const adds = counter("workqueue_adds_total", "Keys added to the queue, also those that were in it.");
  const retries = counter("workqueue_retries_total", "Keys given back after a failure.");
  const waited = seconds("workqueue_queue_duration_seconds", "For how long keys were due before they were taken.");
  const worked = seconds("workqueue_work_duration_seconds", "For how long keys were held.");
  const unfinished = gauge("workqueue_unfinished_work_seconds", "Sum of the times for which keys are held now.");
  const longest = gauge("workqueue_longest_running_processor_seconds", "For how long the key that is held longest is held.");

  const totals = registry.counter({
    name: "controller_runtime_reconcile_total",
    help: "Reconciliations by result.",
    labels: ["controller", "result"],
  });
  const result = {
    success: totals.with({ ...own, result: "success" }),
    requeue_after: totals.with({ ...own, result: "requeue_after" }),
    error: totals.with({ ...own, result: "error" }),
  };
  const ownCounter = (name: string, help: string) => registry.counter({ name, help, labels: ["controller"] }).with(own);
  const ownGauge = (name: string, help: string) => registry.gauge({ name, help, labels: ["controller"] }).with(own);
  const errors = ownCounter("controller_runtime_reconcile_errors_total", "Reconciliations that failed.");
  const faults = ownCounter("controller_runtime_reconcile_panics_total", "Reconciliations that ended by a fault of the program.");
  const timeouts = ownCounter("controller_runtime_reconcile_timeouts_total", "Reconciliations that exceeded their deadline.");
  const took = registry
    .histogram({
      name: "controller_runtime_reconcile_time_seconds",
      help: "How long reconciliations took.",
      labels: ["controller"],
      buckets: reconcileBuckets,
    })
    .with(own);
  const limit = ownGauge("controller_runtime_max_concurrent_reconciles", "Reconciliations that may run at once.");
  const active = ownGauge("controller_runtime_active_workers", "Reconciliations that run now.");
  const stuck = ownGauge("kube_runtime_stuck_reconciles", "Reconciliations that exceeded their deadline and still run.");

  const show = ({ queue, activeWorkers, stuck: hanging }: ControllerFigures): void => {
    depth.normal.set(queue.ready - queue.readyLow);
    depth.low.set(queue.readyLow);
    unfinished.set(queue.totalHeldMs / 1000);
    longest.set(queue.longestHeldMs / 1000);
    active.set(activeWorkers);
    stuck.set(hanging);
  };
  const endCollecting = registry.onCollect(() => show(read()));
  limit.set(workers);

  return {
    queue: {
      onAdd: () => adds.add(),
      onRetry: () => retries.add(),
      onTake: (ms) => waited.observe(ms / 1000),
      onDone: (ms) => worked.observe(ms / 1000),
    },
    onPass(outcome, tookMs, isFault) {
      result[outcome].add();
      if (outcome === "error") errors.add();
      if (isFault) faults.add();
      took.observe(Math.max(0, tookMs) / 1000);
    },
    onTimeout: () => timeouts.add(),
    close() {
      endCollecting();
      show(read());
      limit.set(0);
    },
  };
}
