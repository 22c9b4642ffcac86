/**
 * How far the drain of one machine's Node is, as the drain that runs beside the passes last told it. Plain data: rules are functions of it.
 *
 * `askedAt` is when a rule last wanted it: a drain that nobody wants any more is given up, and its cordon is taken off again.
 */
export type SeenDrain = { readonly startedAt: number; readonly askedAt: number } & (
  | Evicting
  /** Cordoned, and every pod that has to leave is gone. `at` is when that was last seen. */
  | { readonly kind: "drained"; readonly at: number }
  /** The cluster has no Node of this machine. */
  | { readonly kind: "no-node" }
  /** No control plane's Kubernetes API answered since `since`. */
  | { readonly kind: "unreachable"; readonly since: number; readonly detail: string }
  /** The API answers and does not let us, or what stands under the Node's name is another machine. A person has to look. */
  | { readonly kind: "refused"; readonly detail: string }
);

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
