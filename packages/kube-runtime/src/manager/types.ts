import type { Clock, Logger, RandomSource, Timers } from "@talos-operator/ports";
import type { KubeClient } from "../client/kube-client.ts";
import type { Controller, ControllerStats, StuckPass } from "../controller/types.ts";
import type { Leadership, LeaseElectorOptions } from "../lease/types.ts";
import type { MetricsRegistry } from "../metrics/types.ts";
import type { InformerRegistry } from "../watch/create-informer-registry.ts";
import type { InformerStatus } from "../watch/informer-types.ts";

/** The Lease that decides which process acts. */
export type LeaderElection = Pick<LeaseElectorOptions, "namespace" | "name" | "leaseDurationMs" | "renewDeadlineMs" | "retryPeriodMs">;

/** What makes a manager. */
export interface ManagerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly log: Logger;
  /** Unique per process, for example host name and random text. */
  readonly identity: string;
  /** Caches of all controllers. They run from the start, so that a standby takes over warm. */
  readonly informers: InformerRegistry;
  /** `false`: this process is the only one that ever works on this API. */
  readonly leaderElection: LeaderElection | false;
  /** Called at the beginning of each turn of leadership: gives fresh controllers, so that nothing is remembered from an earlier turn. */
  readonly term: (leadership: Leadership) => Term;
  /** Ends what outlives the terms (an event recorder), after the controllers and before the caches. */
  readonly close?: () => Promise<void>;
  /** Where `leader_election_master_status` goes; the parts take theirs themselves. */
  readonly metrics?: MetricsRegistry;
  /**
   * How long `run` waits, once told to stop, for passes to end. What still runs then is named in the log and left behind; the lease is not
   * released but expires. Default 25_000, below the 30 s that Kubernetes gives a pod.
   */
  readonly shutdownTimeoutMs?: number;
}

/** One turn of leadership. */
export interface Term {
  readonly controllers: readonly Controller[];
  /** Called when the controllers have ended. */
  readonly close?: () => void;
}

/** Health of the process, as facts: whoever serves them decides on words and status codes. */
export interface ManagerHealth {
  /**
   * True when every cache is complete and followed, and the lease was read or renewed within twice its duration; a standby is ready, too. Without leader
   * election an API that hangs shows when a watch ends, after up to 15 minutes.
   */
  readonly isReady: boolean;
  /** False when a pass goes on long after its deadline: the process should be restarted. An API server that is away is no reason. */
  readonly isAlive: boolean;
  readonly isLeading: boolean;
  /** Why not ready or not alive, one line each. */
  readonly problems: readonly string[];
  readonly informers: Readonly<Record<string, InformerStatus>>;
  /** Empty while this process does not lead. */
  readonly controllers: Readonly<Record<string, ControllerStats>>;
  /** Passes that exceeded their deadline and still run. */
  readonly stuck: readonly StuckPass[];
}

/** Caches, leadership and controllers of one process. */
export interface Manager {
  /**
   * Works until `signal` aborts, then ends in order: controllers finish their passes, the lease is released, `close` is called, caches end.
   * Call it once.
   */
  run(signal: AbortSignal): Promise<void>;
  health(): ManagerHealth;
  /** The current term, with the fencing token for effects; `undefined` while another process leads. */
  leadership(): Leadership | undefined;
}
