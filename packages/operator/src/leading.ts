import type { Leadership } from "@talos-operator/kube-runtime";

/** This process's right to act, as effects see it. */
export interface Leading {
  readonly identity: string;
  /** Orders leaders: goes into every intent. */
  readonly fencingToken: string;
  /** From when this process may do what disturbs machines: after a takeover the effects of the leader before must have run out. Milliseconds since the epoch. */
  readonly mayDisturbAt: number;
  /** Milliseconds until another process may lead; the deadline of an effect must be below it. */
  remainingMs(): number;
  /** Reads the lease live. */
  confirm(): Promise<boolean>;
}

/** Longest that an effect of an earlier leader may still be on its way. */
const LONGEST_EFFECT_MS = 20_000;

/** The right that comes with a lease. */
export function leadingBy(leadership: Leadership, leaseDurationMs: number): Leading {
  const isFirst = leadership.token.leaseTransitions === 0;
  return {
    identity: leadership.identity,
    fencingToken: `${leadership.token.leaseTransitions}/${leadership.token.resourceVersion}`,
    mayDisturbAt: isFirst ? leadership.since : leadership.since + leaseDurationMs + LONGEST_EFFECT_MS,
    remainingMs: () => leadership.remainingMs(),
    confirm: () => leadership.confirm(),
  };
}

/** The right of the only process there is: the embedded API of a demo serves nobody else. */
export function leadingAlone(identity: string, since: number): Leading {
  return {
    identity,
    fencingToken: "alone",
    mayDisturbAt: since,
    remainingMs: () => Number.MAX_SAFE_INTEGER,
    confirm: () => Promise.resolve(true),
  };
}
