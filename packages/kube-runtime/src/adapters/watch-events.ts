import type { KubeWatchEvent, KubeWatchEvents } from "@talos-operator/ports";
import { splitLines } from "./line-splitter.ts";

/** The body of an open watch. */
type WatchAnswer = AsyncIterable<Buffer> & { destroy(): void };

/** What the transport knows about one watch. */
export interface WatchEventsOptions {
  /** The event of a line. */
  readonly parse: (line: Buffer) => KubeWatchEvent;
  /** What the reader gets to see of an error. */
  readonly failureOf: (thrown: unknown) => Error;
  /** Called once, when nothing more will be read. */
  readonly onEnd: () => void;
}

/**
 * The events of an open watch. No more is read from the connection than the reader takes; leaving the loop closes it.
 *
 * An iterator and not a generator: an event that is here already costs its parsing and at most one promise, which would be a third of the work at tens
 * of thousands a second.
 */
export function watchEvents(answer: WatchAnswer, { parse, failureOf, onEnd }: WatchEventsOptions): KubeWatchEvents {
  const batches = splitLines(answer);
  let lines: readonly Buffer[] = [];
  let at = 0;
  let isOver = false;

  function end(): void {
    if (isOver) return;
    isOver = true;
    lines = [];
    onEnd();
    answer.destroy();
  }

  function failed(thrown: unknown): Error {
    end();
    return failureOf(thrown);
  }

  async function nextOfNextBatch(): Promise<IteratorResult<KubeWatchEvent>> {
    try {
      const batch = isOver ? undefined : await batches.next();
      if (isOver || batch === undefined || batch.done === true) {
        end();
        return { done: true, value: undefined };
      }
      lines = batch.value;
      at = 1;
      return { done: false, value: parse(lines[0] ?? Buffer.alloc(0)) };
    } catch (thrown) {
      throw failed(thrown);
    }
  }

  const iterator: AsyncIterator<KubeWatchEvent> = {
    next() {
      const line = lines[at];
      if (line === undefined) return nextOfNextBatch();
      at += 1;
      try {
        return Promise.resolve({ done: false, value: parse(line) });
      } catch (thrown) {
        return Promise.reject(failed(thrown));
      }
    },
    return() {
      end();
      return Promise.resolve({ done: true, value: undefined });
    },
  };
  return {
    [Symbol.asyncIterator]: () => iterator,
    nextReady() {
      const line = lines[at];
      if (line === undefined) return undefined;
      try {
        const event = parse(line);
        at += 1;
        return event;
      } catch {
        return undefined; // whoever calls `next` gets the same error
      }
    },
  };
}
