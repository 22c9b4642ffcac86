import type { Clock, Logger, Timers } from "@talos-operator/ports";
import type { KubeClient } from "../client/kube-client.ts";
import type { KubeObject } from "../objects/kube-object.ts";

/** Who reports events. */
export interface EventRecorderOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
  /** Qualified name, for example `talos-operator.dev/operator`. */
  readonly reportingController: string;
  /** Name of this process. */
  readonly reportingInstance: string;
  /** A repeated event is written at most this often; the repeats are counted. Default 60_000. */
  readonly seriesIntervalMs?: number;
  /** A repeat after this silence is a new event. Default 360_000. */
  readonly seriesEndMs?: number;
}

/** One event. */
export interface EventInput {
  readonly type: "Normal" | "Warning";
  /** UpperCamelCase, at most 128 characters. */
  readonly reason: string;
  /** What was done, UpperCamelCase, at most 128 characters. */
  readonly action: string;
  /** For people. Cut to 1024 bytes. Never a secret. */
  readonly note: string;
  /** Second object that is involved. */
  readonly related?: KubeObject;
}

/** Writes events, best effort: it never throws, and what cannot be written is counted and dropped. */
export interface EventRecorder {
  record(regarding: KubeObject, event: EventInput): void;
  /** Resolves when everything recorded so far was written or given up. */
  flush(): Promise<void>;
  readonly dropped: number;
  /** Writes counted repeats, then stops. */
  close(): Promise<void>;
}
