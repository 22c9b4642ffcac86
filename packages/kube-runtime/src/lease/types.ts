import type { Clock, Logger, RandomSource, Timers } from "@talos-operator/ports";
import type { KubeClient } from "../client/kube-client.ts";

/** Candidate for a Lease. */
export interface LeaseElectorOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;
  /** Unique per process, for example host name and random text. */
  readonly identity: string;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly log: Logger;
  /** Others take over this long after they saw the last renewal. Default 15_000. */
  readonly leaseDurationMs?: number;
  /** Leadership ends when no renewal succeeded for this long. Default 10_000, must be less than `leaseDurationMs`. */
  readonly renewDeadlineMs?: number;
  /** Between renewals, and between looks at a lease that somebody else holds. Default 2_000. */
  readonly retryPeriodMs?: number;
  /**
   * The work of a leader. It must end soon after `leadership.signal` aborts: only then is the lease released.
   * When it ends or throws by itself, the lease is released and the candidate stands again.
   */
  readonly onElected: (leadership: Leadership) => Promise<void>;
  /** Told when leadership ended, with the reason. */
  readonly onLost?: (reason: LeadershipEnd) => void;
  /** Told each time the API answered that the lease is somebody's, ours, or free: it can be reached, and the lease be used. */
  readonly onContact?: () => void;
  /** Told when another holder is seen. */
  readonly onNewLeader?: (identity: string) => void;
}

/** Why leadership ended: told to stop, given up by the leader itself, not renewed in time, or taken by another. */
export type LeadershipEnd = "stopped" | "resigned" | "renewal-failed" | "taken";

/** Orders leaders: a later one has more transitions or, after the Lease was deleted, a higher resourceVersion. */
export interface FencingToken {
  readonly leaseTransitions: number;
  /** Of the Lease when it was acquired. */
  readonly resourceVersion: string;
}

/** One term as leader. */
export interface Leadership {
  readonly token: FencingToken;
  readonly identity: string;
  /** Aborts when the term ends. */
  readonly signal: AbortSignal;
  /** When the term began, milliseconds since the epoch. */
  readonly since: number;
  /** Local knowledge: renewed within the deadline. True right after a pause of the process only until the clock is read. */
  isHeld(): boolean;
  /** Until others may take over, counted from when the last successful renewal was sent; 0 when not held. A deadline of an effect must be below it. */
  remainingMs(): number;
  /**
   * Reads the Lease live, before an effect. True when it still names this term. False as well when it could not be read in time.
   *
   * @param timeoutMs default 2_000
   */
  confirm(options?: { readonly signal?: AbortSignal; readonly timeoutMs?: number }): Promise<boolean>;
  /** Ends the term: the work is stopped, then the lease released. */
  resign(): void;
}

/** Stands for election until stopped. */
export interface LeaseElector {
  /** Resolves after `signal` aborted, the work ended and the lease was released (best effort). */
  run(signal: AbortSignal): Promise<void>;
  /** The current term, if any. */
  leadership(): Leadership | undefined;
}
