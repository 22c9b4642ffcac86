import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A memory cgroup of a benchmark's own: what the kernel charges to the processes in it. */
export interface MemoryGroup {
  /** A process writes itself in here before it allocates anything. */
  readonly procs: string;
  chargedMib(): number;
  /** Largest so far. */
  peakMib(): number;
  /** Above it nothing is charged: what cannot be given back is killed. */
  limit(mib: number): void;
  /** How often the limit killed somebody. */
  kills(): number;
  remove(): void;
}

/** Roots of version 2 and version 1, with the names of their files. */
const KINDS = [
  {
    root: "/sys/fs/cgroup",
    marker: "cgroup.controllers",
    charged: "memory.current",
    peak: "memory.peak",
    limit: "memory.max",
    events: "memory.events",
  },
  {
    root: "/sys/fs/cgroup/memory",
    marker: "memory.usage_in_bytes",
    charged: "memory.usage_in_bytes",
    peak: "memory.max_usage_in_bytes",
    limit: "memory.limit_in_bytes",
    events: "memory.oom_control",
  },
] as const;

/** Makes one; `undefined` where this user may not, or where memory is not accounted. */
export function createMemoryGroup(): MemoryGroup | undefined {
  for (const { root, marker, charged, peak, limit, events } of KINDS) {
    if (!existsSync(join(root, marker))) continue;
    const folder = join(root, `talos-operator-bench-${process.pid}`);
    try {
      mkdirSync(folder);
    } catch {
      // Not allowed here: the next kind, or none.
      continue;
    }
    const mib = (file: string): number => Number(readFileSync(join(folder, file), "utf8")) / 1024 / 1024;
    if (existsSync(join(folder, charged)))
      return {
        procs: join(folder, "cgroup.procs"),
        chargedMib: () => mib(charged),
        peakMib: () => mib(peak),
        limit: (to) => writeFileSync(join(folder, limit), String(to * 1024 * 1024)),
        kills: () => Number(/^oom_kill (\d+)$/m.exec(readFileSync(join(folder, events), "utf8"))?.[1] ?? 0),
        remove: () => rmdirSync(folder),
      };
    rmdirSync(folder);
  }
  return undefined;
}

/** What of a process is in no file. */
export function anonymousMib(pid: number): number {
  return Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}
