import { StatusError } from "./status-error.ts";

/** Longest that one request may work, milliseconds. All others wait meanwhile, for there is one thread. */
const maxWorkMs = 5000;

/** Small steps between two looks at the clock. */
const stepsPerLook = 1024;

interface Deadline {
  readonly now: () => number;
  readonly endsAt: number;
  steps: number;
  /** Once over it stays so: expressions forgive what a part of them throws, and that a thousand times. */
  refusal: StatusError | undefined;
}

/** Of the request that is worked on: requests are synchronous, so there is one at a time. */
let current: Deadline | undefined;

/**
 * Works on one request. What takes long in proportion to what a client sent calls `spendTime` or `spendStep` in between, and ends there when the
 * time is over. On virtual time nothing ever takes long.
 *
 * @param now milliseconds that the thread has worked; where it is a clock, one that jumps forward ends one request, which is tried again
 */
export function withinDeadline<T>(now: () => number, run: () => T): T {
  const before = current;
  current = { now, endsAt: now() + maxWorkMs, steps: 0, refusal: undefined };
  try {
    return run();
  } finally {
    current = before;
  }
}

/**
 * Called once for each piece of work that may itself take long.
 *
 * @throws 504 when the request has worked too long: nothing of it is stored
 */
export function spendTime(): void {
  if (current === undefined) return;
  if (current.refusal === undefined && current.now() < current.endsAt) return;
  current.refusal ??= new StatusError(
    504,
    "Timeout",
    `Timeout: request did not complete within requested timeout - it worked for more than ${maxWorkMs / 1000} s; send less at once`,
    {},
  );
  throw current.refusal;
}

/** As `spendTime`, for pieces so small that a look at the clock would cost more than they do. */
export function spendStep(): void {
  if (current === undefined || (++current.steps % stepsPerLook !== 0 && current.refusal === undefined)) return;
  spendTime();
}
