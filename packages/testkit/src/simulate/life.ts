/**
 * The life of one operator instance, as its ports see it.
 *
 * A crashed instance never runs again: whatever it still awaits stays unanswered, and whatever it still holds has no effect on the world. That is
 * what `kill -9` does to a process, without a process.
 */
export interface Life {
  readonly isAlive: boolean;
  /** Ends this life. Idempotent. */
  crash(): void;
  /** Aborts with this life: its connections are cut. */
  readonly over: AbortSignal;
  /** The next thing that this instance sends ends it instead (a crash after a reply, before its record). */
  crashAtNextSend(): void;
  /** The process stands still: nothing is sent, heard or timed until `resume`. What it was about to do, it does then. */
  pause(): void;
  resume(): void;
  /** Resolves when the instance is not paused. */
  awake(): Promise<void>;
  /** To be called before anything is sent: false when this instance is dead or just died of it. */
  maySend(): boolean;
  /** Passes a value on to a living instance; a dead one waits for ever. */
  deliver<T>(value: T): Promise<T>;
}

/** Requests that one instance may send: many times what a creation takes. Beyond it the instance runs in circles, and no time would ever pass. */
const MOST_REQUESTS = 50_000;

/** @param onCircle told once when the instance sends without end; it is dead then */
export function createLife(onCrash: () => void, onCircle: () => void = () => undefined): Life {
  let sent = 0;
  let isAlive = true;
  let isDoomed = false;
  const over = new AbortController();
  let paused: { readonly over: Promise<void>; readonly end: () => void } | undefined;
  const crash = (): void => {
    if (!isAlive) return;
    isAlive = false;
    over.abort();
    onCrash();
  };
  return {
    get isAlive() {
      return isAlive;
    },
    crash,
    over: over.signal,
    crashAtNextSend() {
      isDoomed = true;
    },
    pause() {
      if (paused !== undefined) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      paused = { over: promise, end: resolve };
    },
    resume() {
      paused?.end();
      paused = undefined;
    },
    awake: async () => paused?.over,
    maySend() {
      sent += 1;
      if (sent === MOST_REQUESTS) {
        onCircle();
        crash();
      }
      if (isDoomed) crash();
      return isAlive;
    },
    async deliver(value) {
      await paused?.over;
      return isAlive ? value : never();
    },
  };
}

/** What a dead instance awaits. */
export function never<T>(): Promise<T> {
  return new Promise<T>(() => {
    // The one who waits here is gone.
  });
}
