import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKubeClient, type KubeClient } from "@talos-operator/kube-runtime";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import { startProcess } from "./process.ts";
import type { BenchProcess, ProcessCost } from "./process.ts";

/** What the operator calls itself in its requests; the bench's own client says something else. */
const OPERATOR_AGENT = "talos-operator";

/** The world of a benchmark: API, simulated machines and operator, each a process of its own, on loopback. */
export interface BenchWorld extends AsyncDisposable {
  readonly client: KubeClient;
  readonly operatorPid: number;
  /** Folder with what the processes keep. */
  readonly folder: string;
  readonly kubeconfig: string;
  /** Starts one more operator, which waits for its turn to lead. */
  startReplica(): Promise<BenchProcess>;
  /** Ends API and machines, so that nobody writes to the folder any more. */
  stopOthers(): Promise<void>;
  /** The one that was started with the world. */
  readonly operator: BenchProcess;
  /** What the operator's process used so far. */
  operatorCost(): ProcessCost;
  /** Requests that the operator sent to the Kubernetes API so far, by verb and kind (`patch talosmachines/status`); those for its lease are left out. */
  apiRequests(): ReadonlyMap<string, number>;
  /** Calls that machines answered so far: all, and those that can change something. */
  talosCalls(): { readonly all: number; readonly mutating: number };
  /** The calls that machines answered so far, in their order. */
  calls(): readonly AnsweredCall[];
}

/** A line of the simulator's log of calls; times in milliseconds since the epoch. */
export interface AnsweredCall {
  readonly receivedAt: number;
  readonly at: number;
  readonly machine: string;
  readonly path: string;
  readonly mutating: boolean;
  /** gRPC status. */
  readonly code: number;
}

/** What a world consists of. */
export interface WorldOptions {
  /** They wait at 127.1.0.1 and up and answer without delay. */
  readonly machines: number;
  /** RSA keys that the operator makes ahead. */
  readonly rsaPool: number;
  /** The operator from dist/ instead of the sources. */
  readonly bundled: boolean;
  /** Options of the operator's node. */
  readonly nodeOptions?: readonly string[];
  /** Options of the API's node. */
  readonly apiNodeOptions?: readonly string[];
  /** `cgroup.procs` of the operator's memory cgroup. */
  readonly memoryGroup?: string;
  /** A folder that an earlier world has left: API and machines go on from a copy of it. Without it they begin anew. */
  readonly from?: string;
  /** Machines keep what they are told, as the API does always: the folder can be gone on from. Default: only with `from`. */
  readonly persist?: boolean;
  /** Another kubeconfig for the first operator, made from the API's own: to stand between them. */
  readonly kubeconfigOf?: (kubeconfig: string) => string;
  /** Further flags of `manager`. */
  readonly managerFlags?: readonly string[];
}

/** Starts the processes. */
export async function startBenchWorld(options: WorldOptions): Promise<BenchWorld> {
  const folder = mkdtempSync(join(tmpdir(), "talos-operator-bench-"));
  if (options.from !== undefined) {
    cpSync(options.from, folder, { recursive: true });
    // A copy of folders is open to others, and folders that hold keys are refused then.
    for (const part of ["api", "machines"]) chmodSync(join(folder, part), 0o700);
  }
  const isKept = options.persist ?? options.from !== undefined;
  const auditLog = join(folder, "audit.jsonl");
  const callLog = join(folder, "calls.jsonl");
  const running: BenchProcess[] = [];
  const begin = async (...args: Parameters<typeof startProcess>): Promise<BenchProcess> => {
    const process = await startProcess(...args);
    running.unshift(process);
    return process;
  };
  const stop = async (): Promise<void> => {
    for (const process of running) await process.end();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const api = await begin(["apiserver", "--data-dir", join(folder, "api"), "--listen", "127.0.0.1:0", "--audit-log", auditLog], {
      ready: /Kubernetes API at/,
      bundled: false,
      nodeOptions: options.apiNodeOptions ?? [],
    });
    const machines = await begin(
      [
        "simulator",
        ...(isKept ? ["--data-dir", join(folder, "machines")] : ["--no-persist"]),
        `--machines=${options.machines}`,
        "--pace=instant",
        `--call-log=${callLog}`,
        "--log-level=error",
      ],
      { ready: /machines wait/, bundled: false },
    );
    const kubeconfig = join(folder, "api", "kubeconfig");
    const startReplica = (as: string, ready: RegExp): Promise<BenchProcess> =>
      begin(
        [
          "manager",
          "--kubeconfig",
          as,
          "--allow-loopback-machines",
          "--rsa-pool",
          String(options.rsaPool),
          "--health-probe-bind-address=127.0.0.1:0",
          "--metrics-bind-address=0",
          ...(options.managerFlags ?? []),
        ],
        {
          ready,
          bundled: options.bundled,
          nodeOptions: options.nodeOptions ?? [],
          ...(options.memoryGroup === undefined ? {} : { memoryGroup: options.memoryGroup }),
        },
      );
    const operator = await startReplica(options.kubeconfigOf?.(kubeconfig) ?? kubeconfig, /Became leader/);
    const { config } = await loadKubeconfig({ path: kubeconfig });
    const transport = createHttpsTransport({ ...config, userAgent: "bench" });
    return {
      client: createKubeClient(transport),
      operatorPid: operator.pid,
      folder,
      kubeconfig,
      operator,
      async stopOthers() {
        await machines.end();
        await api.end();
      },
      startReplica: () => startReplica(kubeconfig, /Serving probes/),
      operatorCost: () => operator.cost(),
      apiRequests() {
        const counts = new Map<string, number>();
        for (const { verb, path, userAgent } of lines<{ verb: string; path: string; userAgent: string }>(auditLog)) {
          if (userAgent !== OPERATOR_AGENT || path.includes("/leases")) continue;
          const what = `${verb} ${kindOf(path)}`;
          counts.set(what, (counts.get(what) ?? 0) + 1);
        }
        return counts;
      },
      calls: () => lines<AnsweredCall>(callLog),
      talosCalls() {
        const calls = lines<AnsweredCall>(callLog);
        return { all: calls.length, mutating: calls.filter((call) => call.mutating).length };
      },
      async [Symbol.asyncDispose]() {
        transport.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** `secrets`, `taloscontrolplanes/status` */
function kindOf(path: string): string {
  const [, plural = path, , subresource] =
    /(?:\/namespaces\/[^/]+)?\/([a-z]+)(?:\/([^/]+)(?:\/([^/]+))?)?$/.exec(path.replace(/^\/(?:api\/v1|apis\/[^/]+\/[^/]+)/, "")) ?? [];
  return subresource === undefined ? plural : `${plural}/${subresource}`;
}

function lines<T>(path: string): readonly T[] {
  const text = readFileSync(path, "utf8");
  // The last line may be half written.
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}
