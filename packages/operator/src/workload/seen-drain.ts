/**
 * How far the drain of one machine's Node is, as the drain that runs beside the passes last told it. Plain data: rules are functions of it.
 */
export type DrainState =
  | Evicting
  /** Cordoned, and every pod that has to leave is gone. `at` is when that was last seen. */
  | { readonly kind: "drained"; readonly at: number }
  /** The cluster has no Node of this machine. */
  | { readonly kind: "no-node" }
  /** No control plane's Kubernetes API answers. */
  | { readonly kind: "unreachable"; readonly detail: string }
  /** The API answers and does not let us, or what stands under the Node's name is another machine. A person has to look. */
  | { readonly kind: "refused"; readonly detail: string };

/** A drain with its times. */
export interface SeenDrain {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** When a rule last wanted it: a drain that nobody wants any more is given up, and its cordon is taken off again. */
  readonly askedAt: number;
  /** How long it has run, by timers: clocks jump. */
  readonly ranMs: number;
  /** For how much of that, up to now, the API has not answered. 0 while it does. */
  readonly unreachableMs: number;
  /** `undefined` = it has just begun. */
  readonly state: DrainState | undefined;
}

/** Pods are being evicted. */
export interface Evicting {
  readonly kind: "evicting";
  /** Pods that still have to leave. */
  readonly podsLeft: number;
  /** Evictions that a budget forbade when they were last asked for, in the order of their names; at most {@link BLOCKED_NAMED}. */
  readonly blocked: readonly BlockedPod[];
  /** Pods that were evicted and are still there, in the order of their names; at most {@link BLOCKED_NAMED}. */
  readonly leaving: readonly string[];
}

/** A pod whose eviction a PodDisruptionBudget forbids. */
export interface BlockedPod {
  /** `namespace/name` */
  readonly pod: string;
  /** `namespace/name` of the budget; `undefined` when the server did not name it. */
  readonly budget: string | undefined;
}

/** Most pods that are named; the rest is counted. */
export const BLOCKED_NAMED = 5;
