import type { Leadership } from "@talos-operator/kube-runtime";

/** This process's right to act, as effects see it. */
export interface Leading {
  readonly identity: string;
  /** Orders leaders: goes into every intent. */
  readonly fencingToken: string;
  /** When this turn began, milliseconds since the epoch. */
  readonly since: number;
  /** Milliseconds until another process may lead; the deadline of an effect must be below it. */
  remainingMs(): number;
  /** Reads the lease live. */
  confirm(): Promise<boolean>;
}

/** The right that comes with a lease. */
export function leadingBy(leadership: Leadership): Leading {
  return {
    identity: leadership.identity,
    fencingToken: `${leadership.token.leaseTransitions}/${leadership.token.resourceVersion}`,
    since: leadership.since,
    remainingMs: () => leadership.remainingMs(),
    confirm: () => leadership.confirm(),
  };
}

/** The right of the only process there is: the embedded API of a demo serves nobody else. */
export function leadingAlone(identity: string, since: number): Leading {
  return { identity, fencingToken: "alone", since, remainingMs: () => Number.MAX_SAFE_INTEGER, confirm: () => Promise.resolve(true) };
}
