import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { AddressInfo } from "node:net";
import type { S3Keys } from "../../object-storage/signature.ts";

/** versitygw on loopback, its buckets in a folder that goes with it. */
export async function startGenuineS3(
  tools: string,
  keys: S3Keys,
): Promise<{ readonly endpoint: string; readonly close: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "talos-operator-versitygw-"));
  mkdirSync(join(folder, "data"));
  const port = await freePort();
  const child = spawn(join(tools, "versitygw"), ["--port", `127.0.0.1:${port}`, "--health", "/health", "posix", join(folder, "data")], {
    stdio: "ignore",
    env: { PATH: process.env["PATH"], ROOT_ACCESS_KEY: keys.accessKeyID, ROOT_SECRET_KEY: keys.secretAccessKey },
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const close = async (): Promise<void> => {
    child.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const endpoint = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 1_200 && child.exitCode === null; tries += 1) {
    const isUp = await fetch(`${endpoint}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return { endpoint, close };
    await delay(50);
  }
  await close();
  throw new Error("versitygw does not begin to serve");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
