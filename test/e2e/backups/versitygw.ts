import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import type { KeyPair } from "@talos-operator/ports";
import { ownAddress, tool, until } from "@talos-operator/adapters/testing";

/** A genuine S3 server whose buckets are folders: what it holds is seen without asking it. */
export interface Versitygw {
  /** Address and port. */
  readonly host: string;
  readonly keys: { readonly accessKeyID: string; readonly secretAccessKey: string };
  /** The folder of the bucket `backups`. */
  readonly bucket: string;
  /** Files below the bucket, with `/`, but for the server's own. */
  objects(): readonly string[];
  /** Multipart uploads that are neither completed nor aborted. */
  openUploads(): readonly string[];
  /** Ends it as the kernel would. */
  kill(): Promise<void>;
  /** On the same port, with the same data. */
  start(): Promise<void>;
}

const PORT = 7_070;

export interface VersitygwOptions {
  /** Default: one that nobody has yet. */
  readonly address?: string;
  /** Default: it is not encrypted. */
  readonly tls?: KeyPair;
}

export async function startVersitygw(folder: string, { address = ownAddress(), tls }: VersitygwOptions = {}): Promise<Versitygw> {
  const data = join(folder, "s3");
  const bucket = join(data, "backups");
  mkdirSync(bucket, { recursive: true });
  const host = `${address}:${PORT}`;
  const keys = { accessKeyID: "AKIAGENUINE0KEY0OF0A0TEST", secretAccessKey: "genuine-secret-access-key-of-a-test/+0123" };
  const files =
    tls === undefined ? [] : [tls.certificate, tls.key].map((text, index) => written(join(folder, `s3-tls-${index}.pem`), text));
  const flags = files.length === 0 ? [] : ["--cert", files[0] ?? "", "--key", files[1] ?? ""];
  let child: ChildProcess | undefined;
  let ended = Promise.resolve();
  const below = (path: string): readonly string[] =>
    readdirSync(join(bucket, path), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(bucket.length + 1))
      .toSorted();
  const start = async (): Promise<void> => {
    const started = spawn(tool("versitygw"), ["--port", host, ...flags, "posix", data], {
      stdio: "ignore",
      env: { ...process.env, ROOT_ACCESS_KEY: keys.accessKeyID, ROOT_SECRET_KEY: keys.secretAccessKey },
    });
    child = started;
    ended = new Promise<void>((resolve) => started.once("close", () => resolve()));
    await until("versitygw serves", () => {
      assert.equal(started.exitCode, null, "versitygw ended");
      return isListening(address);
    });
  };
  await start();
  return {
    host,
    keys,
    bucket,
    objects: () => below("").filter((path) => !path.startsWith(".sgwtmp/")),
    openUploads: () => {
      try {
        return below(".sgwtmp/multipart");
      } catch (error) {
        // Made with the first upload.
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
        throw error;
      }
    },
    async kill() {
      child?.kill("SIGKILL");
      await ended;
    },
    start,
  };
}

function written(path: string, text: string): string {
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

function isListening(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(PORT, address, () => socket.end(() => resolve(true)));
    socket.once("error", () => resolve(false));
  });
}
