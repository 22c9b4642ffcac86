/** How long a machine must show everything that an upgrade was to bring before it counts as done. */
export const BAKE_MS = 10_000;

/** A machine is well with another Talos within this time after it was asked to boot it; firmware of large machines takes minutes. */
export const WELL_WITHIN_MS = 15 * 60_000;

/** Between the writing of an intent and the arrival of its call, at most. */
export const ARRIVES_MS = 60_000;

/** What is in the store of a machine counts as there for so long. */
export const PULLED_FOR_MS = 30 * 60_000;

/** A pull that failed is tried again after this, counted from its end. */
export const PULL_AGAIN_MS = 30_000;
