import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { HANGS_AFTER_MS, tool } from "@talos-operator/adapters/testing";
import type { RealApiServer } from "@talos-operator/api/testing";
import { startRealApiServer } from "@talos-operator/api/testing";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import { createHelmBinary, createScratch } from "../../adapters/index.ts";
import type { ApplyTask, HelmResult, HelmSecrets, HelmTask } from "../../index.ts";
import type { HelmBinary } from "../../worker/deps.ts";
import { runTask } from "../../worker/run-task.ts";
import type { ChartRepository } from "./chart-repository.ts";
import { startChartRepository } from "./chart-repository.ts";

/** A kube-apiserver, a repository of charts, and workers that drive the genuine Helm against both. */
export interface GenuineWorkers {
  readonly server: RealApiServer;
  readonly charts: ChartRepository;
  give(task: HelmTask, secrets?: Partial<HelmSecrets>): Promise<HelmResult>;
  /** The worker and its Helm die by SIGKILL as soon as `until` holds, while Helm carries out one of these commands, by default all that change a release. @throws Error when Helm ended before */
  giveAndKill(task: HelmTask, secrets: Partial<HelmSecrets>, until: () => Promise<boolean>, during?: readonly string[]): Promise<void>;
  /** Helm as a person runs it. @returns what it printed */
  byHand(...args: readonly string[]): Promise<string>;
  /** The same, left running. @returns its end by SIGKILL */
  leaveByHand(...args: readonly string[]): () => Promise<void>;
  /** An `apply` of the chart in a namespace of the release's own. Each call is another run. */
  applyOf(name: string, chart: string, over?: Partial<ApplyTask>): ApplyTask;
  close(): Promise<void>;
}

export async function startGenuineWorkers(): Promise<GenuineWorkers> {
  const helm = tool("helm");
  const [server, charts] = await Promise.all([startRealApiServer(), startChartRepository(helm)]);
  const own = mkdtempSync(join(tmpdir(), "talos-operator-by-hand-"));
  const kubeconfig = join(own, "kubeconfig");
  writeFileSync(kubeconfig, server.kubeconfig);
  const env = { PATH: process.env["PATH"], HOME: own };
  let runs = 0;

  const run = async (task: HelmTask, over: Partial<HelmSecrets>, wrap: (helm: HelmBinary) => HelmBinary): Promise<HelmResult> => {
    const folder = mkdtempSync(join(tmpdir(), "talos-operator-helm-"));
    const { signal } = new AbortController();
    try {
      return await runTask(
        task,
        { kubeconfig: server.kubeconfig, values: [], repository: { ca: charts.ca }, ...over },
        {
          helm: wrap(createHelmBinary(folder, signal, helm)),
          scratch: createScratch(folder),
          async open(text) {
            const transport = createHttpsTransport((await loadKubeconfig({ text })).config);
            return { client: createKubeClient(transport), close: () => transport.close() };
          },
          clock: { now: () => Date.now() },
          signal,
        },
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };

  const leave = (args: readonly string[]): { hasEnded(): boolean; readonly kill: () => Promise<void> } => {
    const child = spawn(helm, [...args], { env, stdio: "ignore" });
    const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
    return {
      hasEnded: () => child.exitCode !== null || child.signalCode !== null,
      kill: async () => {
        child.kill("SIGKILL");
        await ended;
      },
    };
  };

  return {
    server,
    charts,
    give: (task, secrets = {}) => run(task, secrets, (binary) => binary),
    async giveAndKill(task, secrets, until, during = ["upgrade", "rollback", "uninstall"]) {
      let killed = false;
      await run(task, secrets, (binary) => ({
        async run(args, options) {
          if (killed) throw new Error("the worker is dead");
          if (!during.includes(args[0] ?? "")) return binary.run(args, options);
          // It waits for as long as it takes until it is to be killed.
          const left = leave(args.map((arg) => arg.replace(/^--timeout=.*/, `--timeout=${HANGS_AFTER_MS / 1_000}s`)));
          while (!left.hasEnded() && !(await until()));
          if (left.hasEnded()) throw new Error("Helm ended before it was to be killed");
          await left.kill();
          killed = true;
          throw new Error("the worker is dead");
        },
      }));
      if (!killed) throw new Error("nothing was killed");
    },
    async byHand(...args) {
      const { stdout } = await promisify(execFile)(helm, [...args, `--kubeconfig=${kubeconfig}`], { env });
      return stdout;
    },
    leaveByHand(...args) {
      return leave([...args, `--kubeconfig=${kubeconfig}`]).kill;
    },
    applyOf: (name, chart, over = {}) => ({
      kind: "apply",
      release: { name, namespace: `ns-${name}` },
      owner: "0a7b3c1d-1111-4222-8333-444455556666",
      timeoutMs: HANGS_AFTER_MS,
      chart: { repository: charts.url, name: chart },
      inputs: "00000000000000aa",
      options: { timeoutMs: HANGS_AFTER_MS },
      unowned: "adopt",
      endedRuns: [],
      run: `run-${++runs}`,
      rollbackOnFailure: false,
      ...over,
    }),
    async close() {
      await charts.close();
      await server.close();
      rmSync(own, { recursive: true, force: true });
    },
  };
}
