import type { Clock, LogFields, Logger, RandomSource, Span, Timers, Tracer } from "@talos-operator/ports";
import type { KubeObject } from "../objects/kube-object.ts";
import type { ObjectKey } from "../request/resource-type.ts";
import type { MetricsRegistry } from "../metrics/types.ts";
import type { BackoffOptions, WorkPriority, WorkqueueStats } from "../queue/types.ts";
import type { Delta, Informer } from "../watch/informer-types.ts";

/** How a pass ends. Nothing, or no `requeueAfterMs`: a watch event will wake the key. Waiting is never an exception. */
export interface ReconcileResult {
  readonly requeueAfterMs?: number | undefined;
  /** How urgent the next pass is when its time comes. Default: as this one was. */
  readonly priority?: WorkPriority | undefined;
}

/** What a pass gets beside its key. */
export interface ReconcileContext {
  /** Aborts when the controller stops or the pass exceeds its deadline. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** The span of the pass. What the pass does may be a span below it. */
  readonly span: Span;
  /** Failures in a row of this key before this pass. */
  readonly failures: number;
  /** Says what the pass does now; shown in the report when it hangs. */
  readonly note: (step: string) => void;
  /**
   * Read-your-writes: the next pass of this key begins only when the informer has seen what this one wrote. Meanwhile other keys go on, and
   * no worker waits. Give the informer of the written kind whose scope holds the object, and the object (or its resourceVersion) that the
   * write returned; `undefined` is nothing to wait for.
   */
  readonly wrote: (informer: Pick<Informer<KubeObject>, "waitForResourceVersion">, written: KubeObject | string | undefined) => void;
}

/** One declared watch: `why` says why a change of that object wakes the controller. */
export interface ControllerWatch {
  readonly why: string;
  /** Waits for the informer's first list. */
  waitForSync(signal: AbortSignal): Promise<void>;
  /** Begins to wake keys, those of the first list with low priority; returns the end of it. */
  start(wake: (key: ObjectKey, priority: WorkPriority) => void): () => void;
}

/** Declares a watch. */
export interface WatchDeclaration<T extends KubeObject> {
  readonly informer: Informer<T>;
  readonly why: string;
  /** Keys that the object wakes. Default: the object's own. */
  readonly map?: (object: T) => readonly ObjectKey[];
  /** False leaves a change unheard. Default: all are heard. */
  readonly predicate?: (delta: Delta<T>) => boolean;
  /** How urgent it is when somebody waits for other keys. Default `normal`; what the first list tells is `low` whatever this says. */
  readonly priority?: WorkPriority;
}

/** A pass that runs. */
export interface RunningPass {
  readonly key: ObjectKey;
  readonly runningForMs: number;
  /** What it said last with `note`. */
  readonly step: string | undefined;
}

/** A pass that has exceeded its deadline. */
export interface StuckPass extends RunningPass {
  /** In whole seconds, by timers: a clock that jumps does not change it. */
  readonly overdueForMs: number;
}

/** What makes a controller. */
export interface ControllerOptions {
  readonly name: string;
  readonly watches: readonly ControllerWatch[];
  readonly reconcile: (key: ObjectKey, context: ReconcileContext) => Promise<ReconcileResult | undefined | void>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly log: Logger;
  /** Passes that may run at once, each for another key. Default 4. */
  readonly workers?: number;
  /** Deadline of one pass: its signal aborts and it is reported as stuck until it ends. Default 120_000. */
  readonly passTimeoutMs?: number;
  readonly backoff?: BackoffOptions;
  /** Fairness: keys of one group (a cluster, a tenant) take turns with those of the others. Pure. Default: all keys are one group. */
  readonly groupOf?: (key: ObjectKey) => string;
  /** Where the figures go, under the names that controller-runtime uses. */
  readonly metrics?: MetricsRegistry;
  /** Where a span for each pass goes. Default: nowhere. */
  readonly tracer?: Tracer;
  /** Told when a pass has ended; `thrown` is what ended it. Not told of passes that the controller's own end cut short. */
  readonly onPass?: (controller: string, tookMs: number, thrown: unknown) => void;
  /** What lines about a key say beside its name and namespace. */
  readonly logFields?: (key: ObjectKey) => LogFields;
}

/** Reconciles keys as their objects change. */
export interface Controller {
  readonly name: string;
  /** Waits for the caches, then works until `signal` aborts; resolves when the last pass has ended. */
  run(signal: AbortSignal): Promise<void>;
  /** Wakes a key by hand, for example when a long effect ended; default priority `normal`. Works before `run`, too. */
  enqueue(key: ObjectKey, delayMs?: number, priority?: WorkPriority): void;
  /** Passes that run now. */
  running(): readonly RunningPass[];
  /** Those of them that exceeded their deadline. */
  stuck(): readonly StuckPass[];
  stats(): ControllerStats;
}

/** Figures of a controller. */
export interface ControllerStats {
  readonly queue: WorkqueueStats;
  /** Passes that ended well. */
  readonly succeeded: number;
  readonly failed: number;
  /** Keys whose last pass wrote what the cache has not shown yet; they wait for it. */
  readonly catchingUp: number;
}
