import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createX509Keys, systemClock } from "@talos-operator/adapters";
import type { BackupTask, TaskResult, TaskSecrets } from "@talos-operator/backup";
import { createTestIdentity } from "@talos-operator/backup/testing";
import type { KeyPair } from "@talos-operator/ports";
import { cpuSecondsOfProcess } from "../process.ts";
import { line } from "../report.ts";
import { memberId } from "./large-snapshot.ts";

const source = fileURLToPath(new URL("../../../../cli/src/main.ts", import.meta.url));
const bundle = fileURLToPath(new URL("../../../../../dist/talos-operator.mjs", import.meta.url));
const snapshotWriter = fileURLToPath(new URL("large-snapshot.ts", import.meta.url));
const memberServer = fileURLToPath(new URL("member.ts", import.meta.url));
const bareStream = fileURLToPath(new URL("bare-stream.ts", import.meta.url));

/** How the image starts node: see the Dockerfile. */
const IMAGE_OPTIONS = ["--max-semi-space-size=1", "--semi-space-growth-factor=1", "--heap-growing-percent=25", "--optimize-for-size"];
const IMAGE_ENV = { MALLOC_ARENA_MAX: "1" };

const MIB = 2 ** 20;
const LOOK_EVERY_MS = 50;
const ACCESS = { accessKeyID: "benchkey", secretAccessKey: "benchsecret" };

/** What a process took from its start to its end. */
interface Taken {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Largest resident size, program text included. */
  readonly peakMib: number;
}

export interface BackupBenchOptions {
  readonly bundled: boolean;
  /** Options of the worker's node, beside those of the image. */
  readonly nodeOptions: readonly string[];
}

/**
 * Takes a large snapshot by the worker of backups, as a process of its own, from a member that streams it in messages of 1 KiB; and the same stream to nowhere, before
 * and behind, which is what the rate is compared with.
 */
export async function benchBackup(mib: number, { bundled, nodeOptions }: BackupBenchOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "bench-backup-"));
  const running: ChildProcess[] = [];
  try {
    const snapshot = join(folder, "snapshot.db");
    const written = spawnSync(process.execPath, ["--max-old-space-size=8192", snapshotWriter, snapshot, String(mib * MIB)], {
      stdio: "inherit",
    });
    if (written.status !== 0) throw new Error("the snapshot was not written");
    const bytes = statSync(snapshot).size;
    const { server, client, ca } = await certificates();
    const identity = join(folder, "member.json");
    writeFileSync(identity, JSON.stringify({ ca, ...server }), { mode: 0o600 });
    const credentials = join(folder, "client.json");
    writeFileSync(credentials, JSON.stringify({ ca, ...client }), { mode: 0o600 });
    const member = spawn(process.execPath, [memberServer, snapshot, identity], { stdio: ["ignore", "pipe", "inherit"] });
    running.push(member);
    const port = Number(await firstLine(member));
    const place = await openStore(folder, running);
    process.stdout.write(
      `a snapshot of ${(bytes / MIB).toFixed(0)} MiB in messages of 1 KiB, the worker ${bundled ? "bundled" : "from the sources"}, into ${place.kind === "s3" ? "versitygw" : "a folder: there is no versitygw"}\n`,
    );
    const { recipient } = await createTestIdentity();
    const bare = await measured([bareStream, String(port), credentials]);
    process.stdout.write(`${line("the bare stream", takenText(bare, bytes))}\n`);
    for (const recipients of [[], [recipient]]) {
      const attempt = `a${recipients.length}`;
      const task: BackupTask = {
        kind: "take",
        owner: { namespace: "default", controlPlane: "bench", clusterId: "bench" },
        place,
        timeoutMs: 3_600_000,
        slot: `20261123T02001${recipients.length}Z-bench`,
        attempt,
        source: { address: "127.0.0.1", port, memberId, machine: "bench-1" },
        recipients,
        maxBytes: 8 * 2 ** 30,
        // The etcd of a drill is a process of its own, with memory of its own.
        drill: "read",
      };
      const secrets: TaskSecrets = { talos: { ca, ...client }, manifestKey: Buffer.alloc(32, 7).toString("base64"), store: ACCESS };
      const { taken, result } = await takeBackup({ folder, bundled, nodeOptions, task, secrets });
      if (result.kind !== "taken") throw new Error(`the worker told ${JSON.stringify(result)}`);
      const { facts } = result;
      const streamed = (Date.parse(facts.endedAt) - Date.parse(facts.startedAt)) / 1000;
      const what = recipients.length === 0 ? "the worker" : "the worker, encrypting";
      process.stdout.write(
        [
          line(what, takenText(taken, bytes)),
          line(
            "  until it was stored",
            `${(bytes / MIB / streamed).toFixed(0)} MiB/s, of the bare stream ${((bare.seconds / streamed) * 100).toFixed(0)} %`,
          ),
          line("  until it was read back", `of the bare stream ${((bare.seconds / taken.seconds) * 100).toFixed(0)} %`),
          line("  stored", `${(facts.storedSize / MIB).toFixed(0)} MiB, ${facts.liveKeys} keys, revision ${facts.revision}`),
          "",
        ].join("\n"),
      );
    }
  } finally {
    for (const child of running) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

function takenText({ seconds, cpuSeconds, peakMib }: Taken, bytes: number): string {
  return `${(bytes / MIB / seconds).toFixed(0)} MiB/s, ${cpuSeconds.toFixed(1)} CPU-s, peak ${peakMib.toFixed(0)} MiB`;
}

interface TakeRequest extends BackupBenchOptions {
  readonly folder: string;
  readonly task: BackupTask;
  readonly secrets: TaskSecrets;
}

async function takeBackup({
  folder,
  bundled,
  nodeOptions,
  task,
  secrets,
}: TakeRequest): Promise<{ readonly taken: Taken; readonly result: TaskResult }> {
  const [taskFile, secretsFile, resultFile] = ["task.json", "secrets.json", "result.json"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(taskFile, JSON.stringify(task));
  writeFileSync(secretsFile, JSON.stringify(secrets), { mode: 0o600 });
  const taken = await measured([
    ...nodeOptions,
    bundled ? bundle : source,
    "backup-worker",
    `--task=${taskFile}`,
    `--secrets=${secretsFile}`,
    `--result=${resultFile}`,
    `--scratch-directory=${folder}`,
    `--backup-directory=${join(folder, "store")}`,
  ]);
  return { taken, result: JSON.parse(readFileSync(resultFile, "utf8")) as TaskResult };
}

/** Runs node to its end. Of a process that is gone nothing can be read, so it is looked at again and again: the last look is a moment before. */
async function measured(args: readonly string[]): Promise<Taken> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...IMAGE_OPTIONS, ...args], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, ...IMAGE_ENV },
  });
  let told = "";
  child.stderr.on("data", (chunk: Buffer) => (told = (told + chunk.toString()).slice(-4_000)));
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  let peakMib = 0;
  let cpuSeconds = 0;
  const { pid = 0 } = child;
  let code: number | null | undefined;
  while (code === undefined) {
    try {
      peakMib = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? peakMib * 1024) / 1024;
      cpuSeconds = cpuSecondsOfProcess(pid);
    } catch {
      // It ended between two looks.
    }
    code = await Promise.race([ended, delay(LOOK_EVERY_MS, undefined)]);
  }
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}: ${told}`);
  return { seconds: (performance.now() - startedAt) / 1000, cpuSeconds, peakMib };
}

async function certificates(): Promise<{ readonly ca: string; readonly server: KeyPair; readonly client: KeyPair }> {
  const keys = createX509Keys();
  const notBefore = systemClock.now();
  const authority = await keys.createAuthority({ kind: "ed25519", notBefore });
  const common = { notBefore, lifetimeMs: 24 * 3_600_000 };
  const standard = ({ certificate, key }: KeyPair): KeyPair => ({ certificate, key: key.replaceAll("ED25519 PRIVATE KEY", "PRIVATE KEY") });
  const server = await keys.signCertificate(authority, { ...common, usage: "server", commonName: "bench-1", ipAddresses: ["127.0.0.1"] });
  const client = await keys.signCertificate(authority, { ...common, usage: "client", organizations: ["os:etcd:backup"] });
  keys.close();
  return { ca: authority.certificate, server: standard(server), client: standard(client) };
}

/** A genuine S3 server where the real tier has built one, else a folder. */
async function openStore(folder: string, running: ChildProcess[]): Promise<BackupTask["place"]> {
  mkdirSync(join(folder, "store", "bench"), { recursive: true });
  const tools = process.env["TALOS_OPERATOR_TOOLS"] ?? join(homedir(), ".cache", "talos-operator", "tools");
  if (!existsSync(join(tools, "versitygw"))) return { kind: "directory", path: "", prefix: "backups" };
  const port = await freePort();
  const gateway = spawn(join(tools, "versitygw"), ["--port", `127.0.0.1:${port}`, "--health", "/health", "posix", join(folder, "store")], {
    stdio: "ignore",
    env: { ...process.env, ROOT_ACCESS_KEY: ACCESS.accessKeyID, ROOT_SECRET_KEY: ACCESS.secretAccessKey },
  });
  running.push(gateway);
  const endpoint = `http://127.0.0.1:${port}`;
  for (let tries = 0; (await fetch(`${endpoint}/health`).catch(() => undefined))?.ok !== true; tries += 1) {
    if (tries > 200 || gateway.exitCode !== null) throw new Error("versitygw does not begin to serve");
    await delay(LOOK_EVERY_MS);
  }
  return { kind: "s3", bucket: "bench", region: "us-east-1", endpoint, prefix: "backups", allowPlainText: true };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes("\n")) resolve(text.split("\n")[0] ?? "");
    });
    child.once("exit", (code) => reject(new Error(`ended with ${code}`)));
  });
}
