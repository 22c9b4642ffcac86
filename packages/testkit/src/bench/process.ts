import { spawn, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL("../../../cli/src/main.ts", import.meta.url));
const bundle = fileURLToPath(new URL("../../../../dist/talos-operator.mjs", import.meta.url));

/** What one process has used so far. */
export interface ProcessCost {
  /** User and system time of all threads. */
  readonly cpuSeconds: number;
  /** Of it, the threads of libuv's pool: RSA keys, and beside them nothing of weight. */
  readonly poolCpuSeconds: number;
  /** Largest resident size, program text included. */
  readonly peakMib: number;
}

/** A command of the product as a process of its own. */
export interface BenchProcess {
  readonly pid: number;
  cost(): ProcessCost;
  /** Sends a signal; does not wait for what comes of it. */
  signal(signal: NodeJS.Signals): void;
  /** Resolves when it is gone, whoever ended it. */
  readonly gone: Promise<void>;
  end(): Promise<void>;
}

/** How a command is started. */
export interface StartOptions {
  /** Its standard error shows this once it serves. */
  readonly ready: RegExp;
  /** Runs dist/talos-operator.mjs instead of the sources. */
  readonly bundled: boolean;
  /** Options of node itself. */
  readonly nodeOptions?: readonly string[];
  /** File that the process writes its id into before node begins: `cgroup.procs` of a memory cgroup. */
  readonly memoryGroup?: string;
}

/** @throws Error when the command ends or stays silent for a minute */
export async function startProcess(args: readonly string[], options: StartOptions): Promise<BenchProcess> {
  const program = [...(options.nodeOptions ?? []), options.bundled ? bundle : source, ...args];
  const [command, before] =
    options.memoryGroup === undefined
      ? [process.execPath, []]
      : ["/bin/sh", ["-c", 'echo $$ > "$0" && exec "$@"', options.memoryGroup, process.execPath]];
  const child = spawn(command, [...before, ...program], { stdio: ["ignore", "ignore", "pipe"] });
  let text = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (text.length < 100_000) text += chunk.toString();
  });
  for (let waited = 0; !options.ready.test(text); waited += 20) {
    if (child.exitCode !== null || waited > 60_000) throw new Error(`${args[0]} did not start: ${text}`);
    await delay(20);
  }
  const { pid } = child;
  if (pid === undefined) throw new Error(`${args[0]} has no process id`);
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return { pid, gone, cost: () => costOf(pid), signal: (signal) => void child.kill(signal), end: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const forced = setTimeout(() => child.kill("SIGKILL"), 5_000);
  await gone;
  clearTimeout(forced);
}

/** From /proc, so Linux only, as the published figures are. */
function costOf(pid: number): ProcessCost {
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`);
  const pool = threads.filter((thread) => readFileSync(`${thread}/comm`, "utf8").startsWith("libuv-worker"));
  return {
    cpuSeconds: cpuSecondsOf(`/proc/${pid}/stat`),
    poolCpuSeconds: pool.reduce((sum, thread) => sum + cpuSecondsOf(`${thread}/stat`), 0),
    peakMib: Number(peak) / 1024,
  };
}

/** User and system time that a process, whoever started it, has used so far. */
export function cpuSecondsOfProcess(pid: number): number {
  return cpuSecondsOf(`/proc/${pid}/stat`);
}

function cpuSecondsOf(statPath: string): number {
  const stat = readFileSync(statPath, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
