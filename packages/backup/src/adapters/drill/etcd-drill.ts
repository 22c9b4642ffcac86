import { execFile, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { delimiter, join } from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

import { DrillFailure, type RestoreDrill, type RestoredStore, type ScratchFile } from "../../worker/deps.ts";

const run = promisify(execFile);

/** A restore writes the whole database; a disk that manages 20 MB/s takes eight gibibytes in seven minutes. */
const RESTORE_MS = 20 * 60_000;
const START_MS = 5 * 60_000;
const ASK_EVERY_MS = 100;
const VERSION_MS = 10_000;
/** What etcd said last is quoted up to here. */
const MAX_QUOTE = 300;
/** Both are Unix sockets in the drill's folder: nobody else reaches them, and no port is taken. */
const CLIENT = "client:0";
const PEER = "peer:0";

export interface EtcdDrillOptions {
  /** Folder with `etcd` and `etcdutl`; without it they are looked for in `path`. */
  readonly etcdFolder?: string;
  /** As the variable PATH. */
  readonly path?: string;
  /** Throw-away places are made below it; must be short, as it begins the name of a socket (107 bytes). */
  readonly folder: string;
}

/** Genuine etcd as a drill; `undefined` where one of the two programs is missing or does not tell its version. */
export async function createEtcdDrill({ etcdFolder, path = "", folder }: EtcdDrillOptions): Promise<RestoreDrill | undefined> {
  const folders = etcdFolder === undefined ? path.split(delimiter).filter((one) => one !== "") : [etcdFolder];
  const find = (name: string): string | undefined => folders.map((one) => join(one, name)).find((file) => existsSync(file));
  const etcd = find("etcd");
  const etcdutl = find("etcdutl");
  if (etcd === undefined || etcdutl === undefined) return undefined;
  const version = await versionOf(etcd);
  if (version === undefined) return undefined;
  return { version, restore: (snapshot, { signal }) => restore({ etcd, etcdutl, folder }, snapshot, signal) };
}

async function versionOf(etcd: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(etcd, ["--version"], { timeout: VERSION_MS, env: {} });
    return /^etcd Version: (\d+\.\d+\.\d+)/m.exec(stdout)?.[1];
  } catch {
    // A program that does not run is none: the drill is then weaker, and says so.
    return undefined;
  }
}

async function restore(
  { etcd, etcdutl, folder }: { readonly etcd: string; readonly etcdutl: string; readonly folder: string },
  snapshot: ScratchFile,
  signal: AbortSignal,
): Promise<RestoredStore> {
  const begun = performance.now();
  const own = mkdtempSync(join(folder, "drill-"));
  const cluster = ["--name", "drill", "--initial-cluster", `drill=unix://${PEER}`, "--initial-advertise-peer-urls", `unix://${PEER}`];
  let member: ChildProcess | undefined;
  try {
    await restoreFiles(etcdutl, ["snapshot", "restore", snapshot.path, "--data-dir", "data", ...cluster], own, signal);
    const urls = ["--listen-client-urls", "--advertise-client-urls"].flatMap((flag) => [flag, `unix://${CLIENT}`]);
    const options = ["--listen-peer-urls", `unix://${PEER}`, "--log-outputs", "etcd.log", "--log-level", "warn", "--unsafe-no-fsync"];
    member = spawn(etcd, ["--data-dir", "data", ...cluster, ...urls, ...options], { cwd: own, env: {}, stdio: "ignore" });
    const gone = new Promise<"gone">((resolve) => {
      member?.once("exit", () => resolve("gone"));
      member?.once("error", () => resolve("gone"));
    });
    const answer = await askUntilUp(join(own, CLIENT), gone, signal, () => lastLine(join(own, "etcd.log")));
    return { ...answer, restoreMs: Math.round(performance.now() - begun) };
  } finally {
    if (member !== undefined) await stop(member);
    rmSync(own, { recursive: true, force: true });
  }
}

async function restoreFiles(etcdutl: string, args: readonly string[], cwd: string, signal: AbortSignal): Promise<void> {
  try {
    await run(etcdutl, [...args], { cwd, env: {}, signal, timeout: RESTORE_MS, killSignal: "SIGKILL", maxBuffer: 8 * 1024 * 1024 });
  } catch (error) {
    signal.throwIfAborted();
    const { code, killed, stderr = "" } = error as { readonly code?: string | number; readonly killed?: boolean; readonly stderr?: string };
    if (/no space left on device/.test(stderr)) throw new DrillFailure("no-room", "the disk is full", { cause: error });
    if (killed === true || typeof code === "string")
      throw new DrillFailure("unable", `etcdutl did not end (${code ?? "time is up"})`, { cause: error });
    const said = /^Error: (.*)$/m.exec(stderr)?.[1] ?? stderr.trim().split("\n").at(-1) ?? "";
    throw new DrillFailure("refused", `etcdutl says ${JSON.stringify(said.slice(0, MAX_QUOTE))}`, { cause: error });
  }
}

async function askUntilUp(
  socket: string,
  gone: Promise<"gone">,
  signal: AbortSignal,
  lastWords: () => string,
): Promise<Omit<RestoredStore, "restoreMs">> {
  const until = performance.now() + START_MS;
  for (;;) {
    const outcome = await Promise.race([gone, countKeys(socket)]);
    if (outcome === "gone") {
      const words = lastWords();
      if (/no space left on device/.test(words)) throw new DrillFailure("no-room", "the disk is full");
      throw new DrillFailure("refused", `etcd ended by itself and said ${JSON.stringify(words)}`);
    }
    if (outcome !== undefined) return outcome;
    signal.throwIfAborted();
    if (performance.now() > until) throw new DrillFailure("unable", `etcd did not answer within ${START_MS / 1000} s`);
    await sleep(ASK_EVERY_MS);
  }
}

/** Revision and keys by etcd's own gateway; `undefined` while it does not answer. */
function countKeys(socketPath: string): Promise<Omit<RestoredStore, "restoreMs"> | undefined> {
  return new Promise((resolve) => {
    const call = request({ socketPath, method: "POST", path: "/v3/kv/range", timeout: 60_000 }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("error", () => resolve(undefined));
      response.on("end", () => resolve(readCount(text)));
    });
    call.on("timeout", () => call.destroy());
    call.on("error", () => resolve(undefined));
    // From the key \0 to the end of all keys.
    call.end('{"key":"AA==","range_end":"AA==","count_only":true}');
  });
}

function readCount(text: string): Omit<RestoredStore, "restoreMs"> | undefined {
  try {
    const { header, count = "0" } = JSON.parse(text) as { readonly header?: { readonly revision?: string }; readonly count?: string };
    return header?.revision === undefined ? undefined : { revision: Number(header.revision), liveKeys: Number(count) };
  } catch {
    return undefined;
  }
}

function lastLine(file: string): string {
  try {
    return (readFileSync(file, "utf8").trim().split("\n").at(-1) ?? "").slice(0, MAX_QUOTE);
  } catch {
    return "";
  }
}

/** It holds nothing that anybody wants: no time is given to it. */
async function stop(member: ChildProcess): Promise<void> {
  if (member.pid === undefined || member.exitCode !== null || member.signalCode !== null) return;
  const ended = new Promise((resolve) => member.once("exit", resolve));
  member.kill("SIGKILL");
  await ended;
}
