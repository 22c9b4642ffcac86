import type { LeadershipEnd } from "./types.ts";

/** Why the signal of a {@link Leadership} aborts. */
export class LeadershipOver extends Error {
  override readonly name = "LeadershipOver";
  readonly why: LeadershipEnd;

  constructor(why: LeadershipEnd) {
    super(`leadership ended: ${why}`);
    this.why = why;
  }
}

/**
 * True for the reason of a signal that aborted because the process was told to stop: the lease is still held, and renewed until the work has ended.
 * For every other reason somebody else may lead by now or soon.
 */
export function isStopInOrder(reason: unknown): boolean {
  return reason instanceof LeadershipOver && reason.why === "stopped";
}
