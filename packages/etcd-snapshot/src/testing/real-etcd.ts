import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

function tool(name: string): string {
  const tools = process.env["TALOS_OPERATOR_TOOLS"];
  assert.ok(tools !== undefined, "TALOS_OPERATOR_TOOLS names the folder of the genuine tools: use npm run test:real");
  return join(tools, name);
}

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

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  assert.ok(typeof address === "object" && address !== null);
  return address.port;
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
    const [client, peer] = [await freePort(), await freePort()];
    const url = `http://127.0.0.1:${client}`;
    const child = spawn(
      tool("etcd"),
      [
        "--unsafe-no-fsync",
        "--log-level=warn",
        "--name=default",
        `--data-dir=${dataFolder}`,
        `--listen-client-urls=${url}`,
        `--advertise-client-urls=${url}`,
        `--listen-peer-urls=http://127.0.0.1:${peer}`,
        ...args,
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    let errors = "";
    child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
    for (let turn = 0; turn < 1_200; turn += 1) {
      assert.equal(child.exitCode, null, errors);
      const answer = await fetch(`${url}/health`).catch(() => undefined);
      if (answer?.ok === true) return new RealEtcd(url, child);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    child.kill("SIGKILL");
    throw new Error(`etcd is not healthy after two minutes: ${errors}`);
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
