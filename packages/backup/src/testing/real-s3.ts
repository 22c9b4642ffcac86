/** A genuine S3 server: versitygw. For real tests. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { ownAddress, tool, until } from "@talos-operator/adapters/testing";

import type { S3Place, StoreKeys } from "../task/place.ts";

/** The only keys that it takes. */
export const realS3Keys: StoreKeys = { accessKeyID: "testkey", secretAccessKey: "testsecret" };

export interface RealS3 {
  readonly endpoint: string;
  /** Folder of the buckets: each is a folder, each object a file in it. */
  readonly data: string;
  /** A client that may do everything. */
  client(): S3Client;
  /** Makes a bucket. */
  bucket(name: string): Promise<S3Place>;
  stop(): Promise<void>;
}

/** versitygw on the test file's own network, its buckets in a folder of their own. */
export async function startRealS3(): Promise<RealS3> {
  const folder = mkdtempSync(join(tmpdir(), "talos-operator-s3-"));
  for (const name of ["data", "versions"]) mkdirSync(join(folder, name));
  const host = `${ownAddress()}:7070`;
  const child = spawn(
    tool("versitygw"),
    ["--port", host, "--health", "/health", "posix", "--versioning-dir", join(folder, "versions"), join(folder, "data")],
    { stdio: "ignore", env: { ...process.env, ROOT_ACCESS_KEY: realS3Keys.accessKeyID, ROOT_SECRET_KEY: realS3Keys.secretAccessKey } },
  );
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const endpoint = `http://${host}`;
  await until("versitygw serves", async () => {
    assert.equal(child.exitCode, null, "versitygw ended");
    return (await fetch(`${endpoint}/health`).catch(() => undefined))?.ok === true;
  });
  const client = (): S3Client =>
    new S3Client({
      region: "us-east-1",
      endpoint,
      forcePathStyle: true,
      credentials: { accessKeyId: realS3Keys.accessKeyID, secretAccessKey: realS3Keys.secretAccessKey },
    });
  return {
    endpoint,
    data: join(folder, "data"),
    client,
    async bucket(name) {
      const own = client();
      await own.send(new CreateBucketCommand({ Bucket: name }));
      own.destroy();
      return { kind: "s3", bucket: name, region: "us-east-1", endpoint, prefix: "backups", allowPlainText: true };
    },
    async stop() {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
