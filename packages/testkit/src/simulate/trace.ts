import { createHash } from "node:crypto";

/** What happened in a run, line by line: effects, store writes, decisions, faults. Never key bytes. */
export interface Trace {
  add(line: string): void;
  readonly length: number;
  /** The last `count` lines without renewals of the lease, which say nothing. */
  tail(count: number): readonly string[];
  /** SHA-256 over all lines, hex. */
  hash(): string;
}

export function createTrace(now: () => number): Trace {
  const hash = createHash("sha256");
  const lines: string[] = [];
  const start = now();
  return {
    add(line) {
      const stamped = `${now() - start} ${line}`;
      lines.push(stamped);
      hash.update(`${stamped}\n`);
    },
    get length() {
      return lines.length;
    },
    tail: (count) => lines.filter((line) => !/ K8 /.test(line)).slice(-count),
    hash: () => hash.copy().digest("hex"),
  };
}
