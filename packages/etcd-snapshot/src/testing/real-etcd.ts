import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { promisify } from "node:util";
import { ownAddress, tool, until } from "@talos-operator/adapters/testing";

const run = promisify(execFile);

/** What a genuine program prints. */
export async function said(name: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run(tool(name), args, { maxBuffer: 1024 ** 3 });
  return stdout;
}

/** `etcdutl snapshot status`. */
export interface GenuineStatus {
  readonly hash: number;
  readonly revision: number;
  readonly totalKey: number;
  readonly totalSize: number;
  readonly version: string;
}

export async function genuineStatus(path: string): Promise<GenuineStatus> {
  return JSON.parse(await said("etcdutl", "snapshot", "status", path, "-w", "json")) as GenuineStatus;
}

export interface GenuineKey {
  readonly createRevision: number;
  readonly modRevision: number;
  readonly version: number;
  /** Base64. */
  readonly value: string;
}

/** A genuine etcd of one member on a data folder, new or restored. */
export class RealEtcd {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(url: string, process: ChildProcess) {
    this.url = url;
    this.#process = process;
  }

  static async start(dataFolder: string, args: readonly string[] = []): Promise<RealEtcd> {
    const address = ownAddress();
    const url = `http://${address}:2379`;
    const child = spawn(
      tool("etcd"),
      [
        "--unsafe-no-fsync",
        "--log-level=warn",
        "--name=default",
        `--data-dir=${dataFolder}`,
        `--listen-client-urls=${url}`,
        `--advertise-client-urls=${url}`,
        `--listen-peer-urls=http://${address}:2380`,
        ...args,
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    let errors = "";
    child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
    await until(
      "etcd is healthy",
      async () => {
        assert.equal(child.exitCode, null, errors);
        return (await fetch(`${url}/health`).catch(() => undefined))?.ok === true;
      },
      () => errors,
    );
    return new RealEtcd(url, child);
  }

  /** A call of etcd's JSON gateway. */
  async call(path: string, body: unknown): Promise<Readonly<Record<string, unknown>>> {
    const answer = await fetch(`${this.url}/v3/${path}`, { method: "POST", body: JSON.stringify(body) });
    const text = await answer.text();
    assert.ok(answer.ok, `${path}: ${text.slice(0, 500)}`);
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  }

  async save(path: string): Promise<void> {
    await said("etcdctl", "--endpoints", this.url, "snapshot", "save", path);
  }

  /** All live keys, as etcdctl gets them; by base64 of the key. */
  async get(): Promise<ReadonlyMap<string, GenuineKey>> {
    const answer = JSON.parse(await said("etcdctl", "--endpoints", this.url, "get", "", "--prefix", "-w", "json")) as {
      kvs?: { key: string; create_revision: number; mod_revision: number; version: number; value?: string }[];
    };
    return new Map(
      (answer.kvs ?? []).map(({ key, create_revision, mod_revision, version, value = "" }) => [
        key,
        { createRevision: create_revision, modRevision: mod_revision, version, value },
      ]),
    );
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#process.once("close", resolve));
    this.#process.kill("SIGTERM");
    await closed;
  }
}
