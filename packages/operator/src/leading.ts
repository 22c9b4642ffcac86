import type { Leadership } from "@talos-operator/kube-runtime";
import type { Timers } from "@talos-operator/ports";
import { EffectError } from "./errors.ts";

/** This process's right to act, as effects see it. */
export interface Leading {
  readonly identity: string;
  /** Orders leaders: goes into every intent. */
  readonly fencingToken: string;
  /**
   * Whether this process may do what disturbs machines: after a takeover the effects of the leader before must have run out.
   * Counted by a timer, since clocks jump.
   */
  readonly mayDisturb: boolean;
  /** Milliseconds until another process may lead; the deadline of an effect must be below it. */
  remainingMs(): number;
  /** Reads the lease live. */
  confirm(): Promise<boolean>;
}

/** Longest that an effect of an earlier leader may still be on its way. */
const LONGEST_EFFECT_MS = 20_000;

/**
 * The right that comes with a lease.
 *
 * @param onMayDisturb called once when this process may disturb machines: what waited for that need not wait for its next look
 */
export function leadingBy(
  leadership: Leadership,
  leaseDurationMs: number,
  timers: Timers,
  onMayDisturb: () => void = () => undefined,
): Leading {
  // Also the first of a lease: somebody may have deleted the one before.
  let mayDisturb = false;
  const timer = timers.schedule(leaseDurationMs + LONGEST_EFFECT_MS, () => {
    mayDisturb = true;
    onMayDisturb();
  });
  leadership.signal.addEventListener("abort", () => timer.cancel(), { once: true });
  return {
    identity: leadership.identity,
    fencingToken: `${leadership.token.leaseTransitions}/${leadership.token.resourceVersion}`,
    get mayDisturb() {
      return mayDisturb;
    },
    remainingMs: () => leadership.remainingMs(),
    confirm: () => leadership.confirm(),
  };
}

/** The right of the only process there is: the embedded API of a demo serves nobody else. */
export function leadingAlone(identity: string): Leading {
  return {
    identity,
    fencingToken: "alone",
    mayDisturb: true,
    remainingMs: () => Number.MAX_SAFE_INTEGER,
    confirm: () => Promise.resolve(true),
  };
}

/** A process that stood still must not begin what the one after it has done with. @throws EffectError `NOT_LEADING` */
export async function demandLead(leading: Pick<Leading, "confirm">): Promise<void> {
  if (!(await leading.confirm())) throw new EffectError("NOT_LEADING", "another process holds the lease");
}
