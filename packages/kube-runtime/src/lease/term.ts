import type { ScheduledTimer } from "@talos-operator/ports";
import { isConflict, isNotFound } from "../client/error-predicates.ts";
import type { CampaignOptions, WonLease } from "./campaign.ts";
import { withDeadline } from "./deadline.ts";
import { isTerm, type Lease, released, renewed } from "./lease-record.ts";
import { LeadershipOver } from "./leadership-over.ts";
import type { Leadership, LeadershipEnd } from "./types.ts";

/** What a term needs beside the campaign's options. */
export interface TermOptions extends CampaignOptions {
  readonly renewDeadlineMs: number;
  readonly onElected: (leadership: Leadership) => Promise<void>;
  readonly onLost: ((reason: LeadershipEnd) => void) | undefined;
  /** Told the leadership while it lasts. */
  readonly publish: (leadership: Leadership | undefined) => void;
}

/**
 * Lives one term: starts the work, renews, and ends when told to, when the work ends, when another holds the lease, or when no renewal
 * succeeded within the deadline. Resolves when the work has ended; the lease is released only then, and only while it is still ours.
 *
 * The deadline counts from when the last successful renewal was *sent*, by a timer; `isHeld` reads the clock as well, because after a pause
 * of the process the work may run before the timer does.
 */
export async function liveTerm(won: WonLease, options: TermOptions, stop: AbortSignal): Promise<LeadershipEnd> {
  const { candidate, clock, timers, log, resource, renewDeadlineMs, retryPeriodMs, callTimeoutMs } = options;
  const key = { namespace: candidate.namespace, name: candidate.name };
  const acquireTime = won.lease.spec?.acquireTime;
  const over = new AbortController();
  const noMoreRenewals = new AbortController();
  let lease: Lease = won.lease;
  let renewedAt = won.sentAt;
  let pausesSinceRenewal = 0;
  let ended: LeadershipEnd | undefined;
  let deadline: ScheduledTimer;

  const finish = (reason: LeadershipEnd): void => {
    if (ended === undefined) {
      ended = reason;
      options.publish(undefined);
      over.abort(new LeadershipOver(reason));
      try {
        options.onLost?.(reason);
      } catch (err) {
        log.error({ err }, "Leadership callback failed");
      }
    }
    if (reason === "renewal-failed" || reason === "taken") noMoreRenewals.abort();
  };
  const armDeadline = (delayMs: number): ScheduledTimer => {
    const timer = timers.schedule(delayMs, () => {
      // Only the timer of the last successful renewal decides; others were armed by attempts that failed.
      if (timer === deadline) finish("renewal-failed");
    });
    return timer;
  };
  deadline = armDeadline(Math.max(0, Math.min(renewDeadlineMs, renewDeadlineMs - (clock.now() - won.sentAt))));

  const elapsedMs = (): number => Math.max(clock.now() - renewedAt, pausesSinceRenewal * retryPeriodMs);
  const leadership: Leadership = {
    token: { leaseTransitions: won.lease.spec?.leaseTransitions ?? 0, resourceVersion: won.lease.metadata?.resourceVersion ?? "" },
    identity: candidate.identity,
    signal: over.signal,
    since: won.sentAt,
    isHeld: () => ended === undefined && elapsedMs() < renewDeadlineMs,
    remainingMs: () => (ended === undefined ? Math.max(0, candidate.leaseDurationMs - elapsedMs()) : 0),
    async confirm({ signal, timeoutMs = 2_000 } = {}) {
      if (!leadership.isHeld()) return false;
      try {
        const live = await withDeadline(timers, timeoutMs, signal, (within) => resource.get(key, { signal: within, timeoutMs }));
        return leadership.isHeld() && isTerm(live, candidate.identity, acquireTime);
      } catch (err) {
        log.debug({ err }, "Lease could not be confirmed");
        return false;
      }
    },
    resign: () => finish("resigned"),
  };

  async function renew(): Promise<void> {
    const sentAt = clock.now();
    const attempt = armDeadline(renewDeadlineMs);
    try {
      lease = await withDeadline(timers, callTimeoutMs, noMoreRenewals.signal, (signal) =>
        resource.update(renewed(lease, candidate, sentAt), { signal, timeoutMs: callTimeoutMs }),
      );
      deadline.cancel();
      deadline = attempt;
      renewedAt = sentAt;
      pausesSinceRenewal = 0;
      options.onContact?.();
    } catch (err) {
      attempt.cancel();
      if (noMoreRenewals.signal.aborted) return;
      if (isNotFound(err)) finish("taken");
      else if (isConflict(err)) await lookWhoHolds();
      else log.warn({ err, attempt: pausesSinceRenewal }, "Lease was not renewed");
    }
  }

  /** After a conflict: either an earlier renewal of ours took effect and its answer was lost, or somebody else holds the lease. */
  async function lookWhoHolds(): Promise<void> {
    try {
      const live = await withDeadline(timers, callTimeoutMs, noMoreRenewals.signal, (signal) =>
        resource.tryGet(key, { signal, timeoutMs: callTimeoutMs }),
      );
      options.onContact?.();
      if (live !== undefined && isTerm(live, candidate.identity, acquireTime)) lease = live;
      else finish("taken");
    } catch (err) {
      log.warn({ err }, "Lease could not be read after a conflict");
    }
  }

  async function renewUntilOver(): Promise<void> {
    while (!noMoreRenewals.signal.aborted) {
      try {
        await timers.sleep(retryPeriodMs, noMoreRenewals.signal);
      } catch {
        return; // told to stop renewing
      }
      pausesSinceRenewal += 1;
      await renew();
    }
  }

  async function release(): Promise<void> {
    try {
      await withDeadline(timers, callTimeoutMs, undefined, (signal) =>
        resource.update(released(lease, clock.now()), { signal, timeoutMs: callTimeoutMs }),
      );
    } catch (err) {
      log.debug({ err }, "Lease was not released; it will expire");
    }
  }

  const onStop = (): void => finish("stopped");
  stop.addEventListener("abort", onStop, { once: true });
  options.publish(leadership);
  log.info({ leaseTransitions: leadership.token.leaseTransitions }, "Became leader");
  const renewing = renewUntilOver();
  if (stop.aborted) onStop();
  try {
    await options.onElected(leadership);
    finish("resigned");
  } catch (err) {
    if (ended === undefined) log.error({ err }, "The leader's work failed; giving the lease back");
    finish("resigned");
  }
  const isStillOurs = !noMoreRenewals.signal.aborted;
  noMoreRenewals.abort();
  await renewing;
  deadline.cancel();
  stop.removeEventListener("abort", onStop);
  if (isStillOurs) await release();
  const reason = ended ?? "resigned";
  log.info({ reason }, "Leadership ended");
  return reason;
}
