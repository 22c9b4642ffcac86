import { createHash } from "node:crypto";

/** What happened in a run, line by line: effects, store writes, decisions, faults. Never key bytes. */
export interface Trace {
  add(line: string): void;
  readonly length: number;
  /** All lines, each with the milliseconds since the begin. */
  lines(): readonly string[];
  /** The last `count` lines without renewals of the lease, which say nothing. */
  tail(count: number): readonly string[];
  /** SHA-256 over all lines, hex. */
  hash(): string;
}

export function createTrace(now: () => number): Trace {
  const lines: string[] = [];
  const start = now();
  return {
    add(line) {
      lines.push(`${now() - start} ${line}`);
    },
    get length() {
      return lines.length;
    },
    lines: () => lines,
    tail: (count) => lines.filter((line) => !/ K8 /.test(line)).slice(-count),
    hash: () =>
      createHash("sha256")
        .update(lines.map((line) => `${line}\n`).join(""))
        .digest("hex"),
  };
}
