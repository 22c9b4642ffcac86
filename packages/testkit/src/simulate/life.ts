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
  /** The next thing that this instance sends ends it instead (a crash after a reply, before its record). */
  crashAtNextSend(): void;
  /** To be called before anything is sent: false when this instance is dead or just died of it. */
  maySend(): boolean;
  /** Passes a value on to a living instance; a dead one waits for ever. */
  deliver<T>(value: T): Promise<T>;
}

export function createLife(onCrash: () => void): Life {
  let isAlive = true;
  let isDoomed = false;
  const crash = (): void => {
    if (!isAlive) return;
    isAlive = false;
    onCrash();
  };
  return {
    get isAlive() {
      return isAlive;
    },
    crash,
    crashAtNextSend() {
      isDoomed = true;
    },
    maySend() {
      if (isDoomed) crash();
      return isAlive;
    },
    deliver: (value) => (isAlive ? Promise.resolve(value) : never()),
  };
}

/** What a dead instance awaits. */
export function never<T>(): Promise<T> {
  return new Promise<T>(() => {
    // The one who waits here is gone.
  });
}
