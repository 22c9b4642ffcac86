import { leaseType } from "../request/resource-type.ts";
import { campaign } from "./campaign.ts";
import type { Lease } from "./lease-record.ts";
import { liveTerm, type TermOptions } from "./term.ts";
import type { Leadership, LeaseElector, LeaseElectorOptions } from "./types.ts";

/**
 * Makes a candidate for a Lease: at most one of all candidates leads at a time, up to clocks that tick at the same pace.
 *
 * @throws RangeError when the periods cannot be safe: `retryPeriodMs` < `renewDeadlineMs` < `leaseDurationMs` must hold
 */
export function createLeaseElector(options: LeaseElectorOptions): LeaseElector {
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options;
  if (!(retryPeriodMs > 0 && retryPeriodMs < renewDeadlineMs && renewDeadlineMs < leaseDurationMs)) {
    throw new RangeError("a lease needs retryPeriodMs < renewDeadlineMs < leaseDurationMs");
  }
  if (options.identity === "") throw new RangeError("a candidate needs an identity; the empty one means that nobody holds the lease");
  let current: Leadership | undefined;
  const log = options.log.child({ lease: `${options.namespace}/${options.name}` });
  const term: TermOptions = {
    client: options.client,
    resource: options.client.resource<Lease>(leaseType),
    candidate: { namespace: options.namespace, name: options.name, identity: options.identity, leaseDurationMs },
    clock: options.clock,
    timers: options.timers,
    random: options.random,
    log,
    retryPeriodMs,
    renewDeadlineMs,
    // Several attempts must fit into the deadline, or one hung connection would cost the leadership.
    callTimeoutMs: Math.max(500, Math.floor(renewDeadlineMs / 2)),
    onNewLeader: options.onNewLeader,
    onContact: options.onContact,
    onElected: options.onElected,
    onLost: options.onLost,
    publish: (leadership) => {
      current = leadership;
    },
  };
  return {
    leadership: () => current,
    async run(signal) {
      while (!signal.aborted) {
        const won = await campaign(term, signal);
        if (won === undefined) return;
        await liveTerm(won, term, signal);
        // Let others have a chance before standing again.
        if (!signal.aborted) await options.timers.sleep(retryPeriodMs, signal).catch(() => undefined);
      }
    },
  };
}
