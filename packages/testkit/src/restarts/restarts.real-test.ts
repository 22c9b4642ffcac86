// Genuine parts: none
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import { followBesideWriter } from "./testing/follow.ts";

const main = fileURLToPath(new URL("../../../cli/src/main.ts", import.meta.url));

it("follows the embedded API through twenty kill -9 of its process, and tells each change once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "talos-operator-restarts-"));
  let listen = "127.0.0.1:0";
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [main, "apiserver", "--data-dir", folder, "--listen", listen], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let text = "";
    for await (const chunk of child.stderr as AsyncIterable<Buffer>) {
      text += chunk.toString();
      const found = /Kubernetes API at https:\/\/(\S+:\d+)/.exec(text)?.[1];
      if (found === undefined) continue;
      listen = found;
      return child;
    }
    return assert.fail(`the API server did not start: ${text}`);
  };
  const kill = async (child: ChildProcess): Promise<void> => {
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  };
  let child = await start();
  const { config } = await loadKubeconfig({ path: join(folder, "kubeconfig") });
  const followed = await followBesideWriter(() => createHttpsTransport(config));
  for (let round = 0; round < 20; round += 1) {
    await followed.write(round * 2);
    await kill(child);
    child = await start();
    await followed.write(round * 2 + 1);
    await followed.caughtUp();
  }
  await followed.check();
  await followed.stop();
  await kill(child);
  rmSync(folder, { recursive: true });
});
