import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGenuineApi } from "@talos-operator/adapters/testing";
import { loadKubeconfig } from "@talos-operator/kube-runtime/https";
import { cpuSecondsOfProcess, startProcess } from "../process.ts";
import type { Target } from "./load.ts";

/** A server in a process of its own. */
export interface BenchServer extends AsyncDisposable {
  readonly name: string;
  readonly target: Target;
  /** Processor time that the server, its store included, has used so far. */
  cpuSeconds(): number;
}

/** The embedded API as the command line starts it, with its data on disk. */
export async function startEmbedded(
  options: { readonly durability: "process-crash" | "power-loss"; readonly nodeOptions?: readonly string[]; readonly bundled: boolean },
  folder = mkdtempSync(join(tmpdir(), "talos-operator-bench-api-")),
): Promise<BenchServer> {
  const args = ["apiserver", "--data-dir", folder, "--listen", "127.0.0.1:0", "--durability", options.durability];
  const server = await startProcess(args, {
    ready: /Kubernetes API at/,
    bundled: options.bundled,
    nodeOptions: options.nodeOptions ?? [],
  });
  return {
    name: options.durability === "process-crash" ? "embedded" : "embedded, power-loss",
    target: await targetOf(join(folder, "kubeconfig")),
    cpuSeconds: () => server.cost().cpuSeconds,
    async [Symbol.asyncDispose]() {
      await server.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The genuine kube-apiserver with etcd, whose disk writes are not waited for; `undefined` where `TALOS_OPERATOR_TOOLS` is not given. */
export async function startGenuine(): Promise<BenchServer | undefined> {
  if ((process.env["TALOS_OPERATOR_TOOLS"] ?? "") === "") return undefined;
  const { folder, kubeconfig, stop } = await startGenuineApi();
  return {
    name: "genuine",
    target: await targetOf(kubeconfig),
    cpuSeconds: () =>
      ["etcd", "kube-apiserver"].reduce(
        (sum, part) => sum + cpuSecondsOfProcess(Number(readFileSync(join(folder, `${part}.pid`), "utf8"))),
        0,
      ),
    [Symbol.asyncDispose]: stop,
  };
}

async function targetOf(path: string): Promise<Target> {
  const { config } = await loadKubeconfig({ path });
  const url = new URL(config.server);
  const { ca = "", certificate = "", key = "" } = config as { ca?: string; certificate?: string; key?: string };
  return { host: url.hostname, port: Number(url.port), ca, cert: certificate, key };
}
