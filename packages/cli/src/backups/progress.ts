import { sizeText } from "./words.ts";

/** Who waits less is not told. Milliseconds. */
const QUIET_MS = 2_000;
/** On a terminal the line is drawn anew, elsewhere each is another one. Milliseconds. */
const DRAWN_EVERY_MS = 500;
const TOLD_EVERY_MS = 10_000;

/** Tells on standard error how far something is that takes longer than two seconds. */
export interface Progress {
  /** What goes on, in words before the counts: `reading s3://…`. Counts begin anew. */
  doing(what: string): void;
  /** Bytes so far, of how many where that is known. */
  at(bytes: number, of?: number): void;
  /** Takes the line away. */
  end(): void;
}

export function createProgress(stderr: Pick<NodeJS.WriteStream, "write" | "isTTY">): Progress {
  const isDrawn = stderr.isTTY;
  const begun = performance.now();
  let what = "";
  let count: readonly [number, number | undefined] = [0, undefined];
  let toldAt = begun;
  let isShown = false;
  const tick = (): void => {
    const now = performance.now();
    if (now - begun < QUIET_MS || (!isDrawn && isShown && now - toldAt < TOLD_EVERY_MS)) return;
    toldAt = now;
    isShown = true;
    const line = progressLine(what, ...count);
    stderr.write(isDrawn ? `\r\u001b[K${line}` : `${line}\n`);
  };
  const timer = setInterval(tick, DRAWN_EVERY_MS);
  timer.unref();
  return {
    doing(words) {
      what = words;
      count = [0, undefined];
    },
    at(bytes, of) {
      count = [bytes, of];
    },
    end() {
      clearInterval(timer);
      if (isShown && isDrawn) stderr.write("\r\u001b[K");
    },
  };
}

export function progressLine(what: string, bytes: number, of?: number): string {
  if (bytes === 0) return `${what} ...`;
  const share = of === undefined || of === 0 ? "" : ` of ${sizeText(of)} (${Math.min(100, Math.floor((100 * bytes) / of))} %)`;
  return `${what}: ${sizeText(bytes)}${share}`;
}
