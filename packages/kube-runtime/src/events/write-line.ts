import type { Logger } from "@talos-operator/ports";

const mostQueued = 1_000;

/** Writes one after the other. Those that fail, and those that find no room, are dropped. */
export interface WriteLine {
  /** Writes that were dropped. */
  readonly dropped: number;
  add(write: () => Promise<void>): void;
  drop(): void;
  /** Resolves when nothing is left to write. */
  drained(): Promise<void>;
}

/** An empty line. */
export function createWriteLine(log: Logger): WriteLine {
  const queue: (() => Promise<void>)[] = [];
  let draining: Promise<void> | undefined;
  let dropped = 0;

  async function drain(): Promise<void> {
    // Let the caller finish first: recording must not begin a call in the middle of a pass.
    await Promise.resolve();
    for (let write = queue.shift(); write !== undefined; write = queue.shift()) {
      try {
        await write();
      } catch (err) {
        dropped += 1;
        log.debug({ err }, "Event was not written");
      }
    }
    draining = undefined;
  }

  return {
    get dropped() {
      return dropped;
    },
    add(write) {
      if (queue.length >= mostQueued) {
        dropped += 1;
        return;
      }
      queue.push(write);
      draining ??= drain();
    },
    drop() {
      dropped += 1;
    },
    async drained() {
      for (let current = draining; current !== undefined; current = draining) await current;
    },
  };
}
