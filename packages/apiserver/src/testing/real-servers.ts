import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HANGS_AFTER_MS, startGenuineApi, tool } from "@talos-operator/adapters/testing";
import type { ApiServerOptions } from "../index.ts";
import { startTestServer } from "./test-server.ts";

/** What a command printed. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** An API for genuine clients. */
export interface RealServer {
  /** Path of a kubeconfig of a member of `system:masters`. */
  readonly kubeconfig: string;
  /** Runs genuine kubectl, with `input` on its standard input. */
  kubectl(args: readonly string[], input?: string): Promise<Outcome>;
  /** Runs genuine helm. */
  helm(args: readonly string[]): Promise<Outcome>;
  close(): Promise<void>;
}

function client(folder: string, kubeconfig: string): Pick<RealServer, "kubeconfig" | "kubectl" | "helm"> {
  const run = (name: string, args: readonly string[], input: string): Promise<Outcome> =>
    new Promise((resolve) => {
      const env = {
        ...process.env,
        HELM_CACHE_HOME: join(folder, "hc"),
        HELM_CONFIG_HOME: join(folder, "hf"),
        HELM_DATA_HOME: join(folder, "hd"),
      };
      const child = execFile(tool(name), args, { env, timeout: HANGS_AFTER_MS }, (err, stdout, stderr) =>
        resolve({ code: err === null ? 0 : Number(err.code ?? 1), stdout, stderr }),
      );
      // One that has ended before it read its input tells so by its exit code.
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(input);
    });
  return {
    kubeconfig,
    kubectl: (args, input = "") => run("kubectl", ["--kubeconfig", kubeconfig, "--cache-dir", join(folder, "cache"), ...args], input),
    helm: (args) => run("helm", ["--kubeconfig", kubeconfig, ...args], ""),
  };
}

/** etcd and kube-apiserver, built from pinned modules. */
export async function startGenuine(): Promise<RealServer> {
  const { folder, kubeconfig, stop } = await startGenuineApi();
  return { ...client(folder, kubeconfig), close: stop };
}

/** The embedded API over HTTPS. */
export async function startEmbedded(options: Partial<ApiServerOptions> = {}): Promise<RealServer> {
  const folder = mkdtempSync(join(tmpdir(), "embedded-"));
  const server = await startTestServer(options);
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, server.kubeconfig);
  return {
    ...client(folder, kubeconfig),
    close: async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
