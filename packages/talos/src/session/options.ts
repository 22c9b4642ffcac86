import type { Clock, TalosCredentials, TalosDialer, TalosTarget, Timers } from "@talos-operator/ports";

/** The certificate of a session: looking needs `os:reader`. */
export type SessionCredentials = Extract<TalosCredentials, { readonly kind: "mutual" }>;

/** What a session is made of: how it dials, whom, and as whom. */
export interface TalosSessionOptions {
  readonly dialer: TalosDialer;
  /** Control planes to look through, best first. Workers forward nothing. */
  readonly endpoints: readonly TalosTarget[];
  readonly credentials: SessionCredentials;
  readonly clock: Clock;
  readonly timers: Timers;
}
