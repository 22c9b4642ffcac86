import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createKubeClient, type KubeClient } from "@talos-operator/kube-runtime";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";

const main = fileURLToPath(new URL("../../../cli/src/main.ts", import.meta.url));

/** The world of a benchmark: API, simulated machines and operator, each a process of its own, on loopback. */
export interface BenchWorld extends AsyncDisposable {
  readonly client: KubeClient;
  /** CPU time and peak memory of the operator's process so far. */
  operatorCost(): ProcessCost;
  /** Requests that the operator sent to the Kubernetes API so far, watches included, by verb. */
  apiRequests(): ReadonlyMap<string, number>;
  /** Answered calls to machines so far: all, and those that can change something. */
  talosCalls(): { readonly all: number; readonly mutating: number };
}

export interface ProcessCost {
  readonly cpuSeconds: number;
  readonly peakMib: number;
}

/** Starts the processes. `machines` wait at 127.1.0.1 and up and answer without delay. */
export async function startBenchWorld(machines: number): Promise<BenchWorld> {
  const folder = mkdtempSync(join(tmpdir(), "talos-operator-bench-"));
  const auditLog = join(folder, "audit.jsonl");
  const callLog = join(folder, "calls.jsonl");
  const api = await start(
    ["apiserver", "--data-dir", join(folder, "api"), "--listen", "127.0.0.1:17444", "--audit-log", auditLog],
    /Kubernetes API at/,
  );
  const simulator = await start(
    ["simulator", "--data-dir", join(folder, "machines"), "--machines", String(machines), "--pace", "instant", "--call-log", callLog],
    /machines wait/,
  );
  const kubeconfig = join(folder, "api", "kubeconfig");
  const operator = await start(
    ["manager", "--kubeconfig", kubeconfig, "--allow-loopback-machines", "--log-level", "info"],
    /leader|lease/i,
  );
  const transport = createHttpsTransport((await loadKubeconfig({ path: kubeconfig })).config);
  return {
    client: createKubeClient(transport),
    operatorCost: () => costOf(operator),
    apiRequests() {
      const counts = new Map<string, number>();
      for (const { verb, path } of lines<{ verb: string; path: string }>(auditLog)) {
        if (!path.includes("/leases/")) counts.set(verb, (counts.get(verb) ?? 0) + 1);
      }
      return counts;
    },
    talosCalls() {
      const calls = lines<{ mutating: boolean }>(callLog);
      return { all: calls.length, mutating: calls.filter((call) => call.mutating).length };
    },
    async [Symbol.asyncDispose]() {
      transport.close();
      for (const child of [operator, simulator, api]) await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function lines<T>(path: string): readonly T[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}

async function start(args: readonly string[], ready: RegExp): Promise<ChildProcess> {
  const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  let text = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (text.length < 100_000) text += chunk.toString();
  });
  for (let waited = 0; !ready.test(text); waited += 20) {
    if (child.exitCode !== null || waited > 60_000) throw new Error(`${args[0]} did not start: ${text}`);
    await delay(20);
  }
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await gone;
}

/** From /proc, so Linux only, as the published figures are. */
function costOf(child: ChildProcess): ProcessCost {
  const stat = readFileSync(`/proc/${child.pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
  return { cpuSeconds: ticks / 100, peakMib: Number(peak) / 1024 };
}
