import type { Clock } from "@talos-operator/ports";
import { LeadershipOver } from "../lease/leadership-over.ts";
import type { Leadership } from "../lease/types.ts";

/** Leadership of the only process there is: held until `signal` aborts or it resigns. */
export function leadAlone(identity: string, clock: Clock, signal: AbortSignal): Leadership {
  const over = new AbortController();
  const end = (): void => over.abort(new LeadershipOver("stopped"));
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  return {
    token: { leaseTransitions: 0, resourceVersion: "" },
    identity,
    signal: over.signal,
    since: clock.now(),
    isHeld: () => !over.signal.aborted,
    remainingMs: () => (over.signal.aborted ? 0 : Number.MAX_SAFE_INTEGER),
    confirm: () => Promise.resolve(!over.signal.aborted),
    resign: end,
  };
}
