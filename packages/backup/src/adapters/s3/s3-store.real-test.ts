// The S3 client against a genuine S3 server: versitygw.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { after, before, describe, test } from "node:test";
import { CreateBucketCommand, PutBucketVersioningCommand, S3Client } from "@aws-sdk/client-s3";
import { storeConformance } from "../../conformance/store-conformance.ts";
import { isStoreFailure } from "../../store/failure.ts";
import type { S3Place, StoreKeys } from "../../task/place.ts";
import { createS3Store } from "./s3-store.ts";

const keys: StoreKeys = { accessKeyID: "testkey", secretAccessKey: "testsecret" };

/** versitygw on loopback, its buckets in a folder. */
async function startServer(): Promise<{ readonly endpoint: string; readonly stop: () => Promise<void> }> {
  const tools = process.env["TALOS_OPERATOR_TOOLS"];
  assert.ok(tools !== undefined, "TALOS_OPERATOR_TOOLS names the folder of the genuine tools: use npm run test:real");
  const folder = mkdtempSync(join(tmpdir(), "talos-operator-s3-"));
  for (const name of ["data", "versions"]) mkdirSync(join(folder, name));
  const port = await freePort();
  const child = spawn(
    join(tools, "versitygw"),
    ["--port", `127.0.0.1:${port}`, "--health", "/health", "posix", "--versioning-dir", join(folder, "versions"), join(folder, "data")],
    { stdio: "ignore", env: { ...process.env, ROOT_ACCESS_KEY: keys.accessKeyID, ROOT_SECRET_KEY: keys.secretAccessKey } },
  );
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const endpoint = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries += 1) {
    if (
      await fetch(`${endpoint}/health`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      break;
    assert.ok(tries < 200 && child.exitCode === null, "versitygw does not begin to serve");
    await delay(50);
  }
  return {
    endpoint,
    async stop() {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  assert.ok(typeof address === "object" && address !== null);
  return address.port;
}

describe("a genuine S3 server", () => {
  let endpoint = "";
  let stop = (): Promise<void> => Promise.resolve();
  let buckets = 0;
  before(async () => void ({ endpoint, stop } = await startServer()));
  after(() => stop());

  const bucket = async (isVersioned = false): Promise<S3Place> => {
    const name = `bucket-${(buckets += 1)}`;
    const client = new S3Client({
      region: "us-east-1",
      endpoint,
      forcePathStyle: true,
      credentials: { accessKeyId: keys.accessKeyID, secretAccessKey: keys.secretAccessKey },
    });
    await client.send(new CreateBucketCommand({ Bucket: name }));
    if (isVersioned) await client.send(new PutBucketVersioningCommand({ Bucket: name, VersioningConfiguration: { Status: "Enabled" } }));
    client.destroy();
    return { kind: "s3", bucket: name, region: "us-east-1", endpoint, prefix: "backups", allowPlainText: true };
  };

  storeConformance("a bucket", async () => {
    const store = createS3Store(await bucket(), async () => keys);
    return { store, end: async () => store.close() };
  });

  test("a bucket with versions: what is removed is marked, and not found any more", async () => {
    const store = createS3Store(await bucket(true), async () => keys);
    await store.put("a/b", Uint8Array.of(1));
    assert.deepEqual(await store.remove("a/b"), { removed: "marked" });
    assert.equal(await store.head("a/b"), undefined);
    store.close();
  });

  test("wrong keys, an unknown key, a bucket that is not there: each is named, and no key is", async () => {
    const place = await bucket();
    for (const [given, at, kind] of [
      [{ ...keys, secretAccessKey: "another-secret" }, place, "denied"],
      [{ ...keys, accessKeyID: "another-key" }, place, "denied"],
      [keys, { ...place, bucket: "not-there" }, "missing"],
    ] as const) {
      const store = createS3Store(at, async () => given);
      await assert.rejects(store.put("a", Uint8Array.of(1)), (thrown) => {
        assert.ok(isStoreFailure(thrown, kind), String(thrown));
        assert.doesNotMatch(String(thrown), /another|testkey|testsecret/);
        return true;
      });
      store.close();
    }
  });
});
