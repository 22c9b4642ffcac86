import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownAddress, tool, until } from "@talos-operator/adapters/testing";
import type { S3Keys } from "../../object-storage/signature.ts";

/** versitygw on the test file's own network, its buckets in a folder that goes with it. */
export async function startGenuineS3(keys: S3Keys): Promise<{ readonly endpoint: string; readonly close: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "talos-operator-versitygw-"));
  mkdirSync(join(folder, "data"));
  const host = `${ownAddress()}:7070`;
  const child = spawn(tool("versitygw"), ["--port", host, "--health", "/health", "posix", join(folder, "data")], {
    stdio: "ignore",
    env: { PATH: process.env["PATH"], ROOT_ACCESS_KEY: keys.accessKeyID, ROOT_SECRET_KEY: keys.secretAccessKey },
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const close = async (): Promise<void> => {
    child.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const endpoint = `http://${host}`;
  await until("versitygw serves", async () => {
    assert.equal(child.exitCode, null, "versitygw ended");
    return (await fetch(`${endpoint}/health`).catch(() => undefined))?.ok === true;
  });
  return { endpoint, close };
}
