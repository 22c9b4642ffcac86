import type { Logger, RandomSource, ScheduledTimer, Timers, Clock } from "@talos-operator/ports";
import { isAlreadyExists, isConflict } from "../client/error-predicates.ts";
import type { KubeClient } from "../client/kube-client.ts";
import type { ResourceClient } from "../client/resource-client.ts";
import { leaseType } from "../request/resource-type.ts";
import { createInformer } from "../watch/create-informer.ts";
import { withDeadline } from "./deadline.ts";
import { createPause } from "./pause.ts";
import { type Candidate, isFree, isTerm, type Lease, microTime, newLease, renewed, takenOver } from "./lease-record.ts";

/** What a candidate needs. */
export interface CampaignOptions {
  readonly client: KubeClient;
  readonly resource: ResourceClient<Lease>;
  readonly candidate: Candidate;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly log: Logger;
  readonly retryPeriodMs: number;
  readonly callTimeoutMs: number;
  readonly onNewLeader: ((identity: string) => void) | undefined;
  readonly onContact: (() => void) | undefined;
}

/** A lease that was just won. */
export interface WonLease {
  readonly lease: Lease;
  /** Clock when the winning write was sent: the term counts from here. */
  readonly sentAt: number;
}

/**
 * Stands for election until the lease is won; `undefined` when `signal` aborts first.
 *
 * The holder's time stamps are never compared with our clock: what counts is for how long *we* have not seen the lease change, measured by a
 * timer. A takeover is a compare-and-swap on the version that was just read, so a pause at any point is harmless.
 * While somebody holds the lease it is watched, which shows a release at once and costs no polling; without the right to watch it is polled.
 */
export async function campaign(options: CampaignOptions, signal: AbortSignal): Promise<WonLease | undefined> {
  const { client, candidate, clock, timers, random, log, resource } = options;
  const key = { namespace: candidate.namespace, name: candidate.name };
  const end = new AbortController();
  const stop = (): void => end.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();

  let seenVersion: string | undefined;
  let seenLeader: string | undefined;
  let isExpired = false;
  let expiry: ScheduledTimer | undefined;
  let attempted: string | undefined;
  let failures = 0;
  const pause = createPause(timers, end.signal);

  const observe = (lease: Lease): void => {
    const version = lease.metadata?.resourceVersion;
    if (version === seenVersion) return;
    seenVersion = version;
    isExpired = false;
    expiry?.cancel();
    expiry = timers.schedule((lease.spec?.leaseDurationSeconds ?? candidate.leaseDurationMs / 1000) * 1000, () => {
      isExpired = true;
      pause.wake();
    });
    const holder = lease.spec?.holderIdentity ?? "";
    if (holder !== "" && holder !== seenLeader && holder !== candidate.identity) {
      seenLeader = holder;
      options.onNewLeader?.(holder);
    }
  };

  const look = async (): Promise<WonLease | undefined> =>
    withDeadline(timers, options.callTimeoutMs, end.signal, async (within) => {
      const call = { signal: within, timeoutMs: options.callTimeoutMs };
      const lease = await resource.tryGet(key, call);
      const sentAt = clock.now();
      if (lease === undefined) {
        attempted = microTime(sentAt);
        return { lease: await resource.create(newLease(candidate, sentAt), call), sentAt };
      }
      observe(lease);
      // Our own write whose answer was lost.
      if (isTerm(lease, candidate.identity, attempted))
        return { lease: await resource.update(renewed(lease, candidate, sentAt), call), sentAt };
      if (!isFree(lease) && !isExpired) return undefined;
      attempted = microTime(sentAt);
      return { lease: await resource.update(takenOver(lease, candidate, sentAt), call), sentAt };
    });

  const informer = createInformer<Lease>({
    client,
    type: leaseType,
    timers,
    random,
    namespace: candidate.namespace,
    fieldSelector: `metadata.name=${candidate.name}`,
  });
  informer.subscribe((delta) => {
    if (delta.type !== "deleted") observe(delta.object);
    if (delta.type === "deleted" || isFree(delta.object)) pause.wake();
  });
  let watching: Promise<void> | undefined;

  try {
    while (!end.signal.aborted) {
      // A change that arrives during the look must not be slept over.
      pause.forget();
      try {
        const won = await look();
        options.onContact?.();
        if (won !== undefined) return won;
        failures = 0;
      } catch (err) {
        if (end.signal.aborted) return undefined;
        const isRace = isConflict(err) || isAlreadyExists(err);
        if (isRace) options.onContact?.();
        else failures += 1;
        if (failures === 1) log.warn({ err }, "Lease cannot be read or taken; trying on");
        else log.debug({ err }, "Lease was not taken");
      }
      watching ??= informer.run(end.signal);
      // With a live watch every change wakes us; the long look is only a second opinion.
      const isFollowed = failures === 0 && informer.status().phase === "watching";
      const pauseMs = isFollowed ? candidate.leaseDurationMs : options.retryPeriodMs;
      await pause.wait(pauseMs * (1 + random.fraction() * 0.2));
    }
    return undefined;
  } finally {
    expiry?.cancel();
    signal.removeEventListener("abort", stop);
    end.abort();
    await watching;
  }
}
