import type { ScheduledTimer, Timers } from "@talos-operator/ports";

const silenceGraceMs = 10_000;
/** Between two objects of a streamed list, and before its end. */
const listSilenceMs = 30_000;

/** What time does to one watch. */
export interface WatchTimers {
  /** The list stopped before its end. */
  readonly isStalled: boolean;
  /** From now on the list of the watch must bring something in time, until it is complete. */
  expectList(isListing: () => boolean, eventsSeen: () => number): void;
  stop(): void;
}

/** Timers of a watch that the server is to end after `timeoutSeconds`; they end it by `abort`. */
export function createWatchTimers(timers: Timers, timeoutSeconds: number, abort: AbortController): WatchTimers {
  // A connection on which nobody answers any more looks like a quiet one; the server must end the watch by itself, so its end is overdue.
  const overdue = timers.schedule(timeoutSeconds * 1000 + silenceGraceMs, () => abort.abort(new Error("the watch did not end in time")));
  let stall: ScheduledTimer | undefined;
  let isStalled = false;
  // A server that does not know streamed lists may take the request for a plain watch, whose beginning never ends.
  const expectList: WatchTimers["expectList"] = (isListing, eventsSeen) => {
    const before = eventsSeen();
    stall = timers.schedule(listSilenceMs, () => {
      if (!isListing()) return;
      if (eventsSeen() > before) {
        expectList(isListing, eventsSeen);
        return;
      }
      isStalled = true;
      abort.abort(new Error("the list stopped before its end"));
    });
  };
  return {
    get isStalled() {
      return isStalled;
    },
    expectList,
    stop() {
      overdue.cancel();
      stall?.cancel();
    },
  };
}
