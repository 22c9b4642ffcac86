/** How far a benchmark is: one line that is overwritten on a terminal, and elsewhere a line of its own every few seconds. */
export interface Progress {
  /** The newest state; may be called as often as it changes. */
  show(text: string): void;
  /** Leaves the last state standing. */
  end(): void;
}

/** Where progress is written: standard error by default. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const PLAIN_EVERY_MS = 5_000;

/** @param now monotonic milliseconds */
export function createProgress(stream: ProgressStream = process.stderr, now: () => number = () => performance.now()): Progress {
  let shown = "";
  let newest = "";
  let nextAt = now() + PLAIN_EVERY_MS;
  const line = (): void => {
    if (newest === shown) return;
    shown = newest;
    stream.write(`${newest}\n`);
  };
  return {
    show(text) {
      newest = text;
      if (stream.isTTY === true) stream.write(`\r${text}\u001b[K`);
      else if (now() >= nextAt) {
        nextAt = now() + PLAIN_EVERY_MS;
        line();
      }
    },
    end() {
      if (stream.isTTY === true) stream.write("\n");
      else line();
    },
  };
}
