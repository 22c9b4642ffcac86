import { createHash } from "node:crypto";

/**
 * Starts workers, processes of their own for what does not fit into this one: Jobs in a cluster, child processes beside it, plain promises in simulation.
 *
 * A worker outlives the process that started it where it can. What this process knows of it is what it is told here, each time anew.
 */
export interface WorkerRunner<Task, Secrets, Result> {
  /** Begins a run. One of this name that is there already is left as it is: to start is harmless to repeat. */
  start(run: RunRequest<Task, Secrets>): Promise<void>;
  look(name: string): Promise<RunState<Result>>;
  /** Ends the run if it goes on, and forgets it; nothing when there is none. */
  remove(name: string): Promise<void>;
  /**
   * Gives a run that goes on newer secrets in place of those of the same names, which a worker reads once more when those before have expired. Nothing for a run that is
   * not there. Absent: a worker keeps what it began with.
   */
  refresh?(name: string, renewed: Partial<Secrets>): Promise<void>;
  /** Every run of this operator that was not removed, whoever started it. */
  list(): Promise<readonly ListedRun[]>;
}

export interface RunRequest<Task, Secrets> {
  /** Made of {@link runId}: the same for the same try. */
  readonly name: string;
  readonly task: Task;
  /** For the worker alone: they stand in no log, no status and no manifest of a Job. */
  readonly secrets: Secrets;
  readonly owner: RunOwner;
}

/** The object that a run was made for. */
export interface RunOwner {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface ListedRun {
  readonly name: string;
  readonly owner: RunOwner;
  readonly hasEnded: boolean;
}

/** How a run is. Times are milliseconds since the epoch. */
export type RunState<Result> =
  /** Nobody knows it: it was never started, or it was removed. */
  | { readonly kind: "absent" }
  /** It was accepted and does not work yet; `why` is for people. */
  | { readonly kind: "waiting"; readonly why: string }
  | { readonly kind: "running"; readonly since: number }
  /** `result` is `undefined` where the worker died, or what it told is no result. */
  | { readonly kind: "ended"; readonly result: Result | undefined; readonly at: number };

/** What every task says, whatever it is. */
export interface WorkerTask {
  readonly kind: string;
  /** When its worker gives up. Milliseconds from its start. */
  readonly timeoutMs: number;
}

/** How long a run may take to begin: an image that is pulled, a place that is waited for. Comes on top of the task's own time. Milliseconds. */
export const BEGINS_WITHIN_MS = 5 * 60_000;

/** 12 hex digits that stand for one try of one task of one object: the same in every process that asks. */
export function runId(uid: string, task: string, attempt: string): string {
  return createHash("sha256").update(`${uid}/${task}/${attempt}`).digest("hex").slice(0, 12);
}
