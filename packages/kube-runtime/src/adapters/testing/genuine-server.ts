import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startGenuineApi } from "@talos-operator/adapters/testing";
import type { KubeTransport } from "@talos-operator/ports";
import type { HttpsTransportConfig } from "../https-config.ts";
import { createHttpsTransport } from "../https-transport.ts";
import { loadKubeconfig } from "../load-kubeconfig.ts";

/** A genuine etcd and kube-apiserver. */
export interface GenuineServer {
  readonly config: HttpsTransportConfig;
  /** Another connection as system:masters. */
  transport(): KubeTransport;
  /** `kill -9` of the API server; etcd stays. */
  kill(): Promise<void>;
  /** Starts the killed API server again on the same port and waits until it is ready. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function startGenuineServer(): Promise<GenuineServer> {
  const { folder, kubeconfig, stop } = await startGenuineApi();
  const pidFile = join(folder, "kube-apiserver.pid");
  const pid = (): number => Number(readFileSync(pidFile, "utf8"));
  const command = readFileSync(`/proc/${pid()}/cmdline`, "utf8").split("\0").slice(0, -1);
  const { config } = await loadKubeconfig({ path: kubeconfig });
  const transports: KubeTransport[] = [];
  const transport = (): KubeTransport => {
    const made = createHttpsTransport(config);
    transports.push(made);
    return made;
  };

  async function kill(): Promise<void> {
    const killed = pid();
    process.kill(killed, "SIGKILL");
    while (isRunning(killed)) await sleep(10);
  }

  function start(): ChildProcess {
    const [program = "", ...rest] = command;
    const output = openSync(join(folder, "kube-apiserver.log"), "a");
    const child = spawn(program, rest, { stdio: ["ignore", output, output] });
    closeSync(output);
    child.unref();
    writeFileSync(pidFile, String(child.pid));
    return child;
  }

  return {
    config,
    transport,
    kill,
    async restart() {
      const probe = transport();
      // The last threads of a killed process may hold the port a moment longer than its entry lives; then the new one exits at once.
      for (let attempt = 0; attempt < 50; attempt += 1) {
        const child = start();
        while (child.exitCode === null) {
          if (await isReady(probe)) return;
          await sleep(50);
        }
        await sleep(200);
      }
      assert.fail(readFileSync(join(folder, "kube-apiserver.log"), "utf8").slice(-2_000));
    },
    async close() {
      for (const one of transports) one.close();
      // Killed and forgotten before the script looks for it: its orderly end would wait for the watches of others.
      await kill();
      rmSync(pidFile);
      await stop();
    },
  };
}

async function isReady(transport: KubeTransport): Promise<boolean> {
  try {
    return (await transport.send({ method: "GET", path: "/readyz" }, { timeoutMs: 2_000 })).status === 200;
  } catch {
    return false; // still starting
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A child that was not collected yet still has an entry, but no memory.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false; // gone
  }
}
