import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter } from "node:path";
import type { HelmBinary, HelmEnd } from "../worker/deps.ts";

/** What is kept of each stream. Bytes. */
const MOST_OUTPUT = 2 ** 20;

/** Resident memory of a helm that reads a chart without end, or renders one. Less than what the Job of the worker has, so that its end can be told; a large chart takes half of it. Bytes. */
const MOST_MEMORY = 384 * 2 ** 20;

/** Of memory, as `/proc` counts it. */
const PAGE_BYTES = 4096;

/** How often that is looked at, where the system tells it: on Linux. Milliseconds. */
const LOOK_MS = 200;

/** After this a helm that was asked to end is killed. Milliseconds. */
const KILL_MS = 5_000;

/**
 * Helm follows a repository to `http://` addresses, and has no switch against it. So they are asked for through a proxy that is not there; Go asks loopback
 * addresses without any proxy.
 */
const noPlainText = { HTTP_PROXY: "http://127.0.0.1:9", http_proxy: "http://127.0.0.1:9" };

/**
 * The genuine helm as a child process, in a process group of its own: what it starts ends with it.
 *
 * @param home a folder for its configuration, caches and data; nothing of the user's is read
 * @param binary name on the PATH, or a path. Default: `helm`
 */
export function createHelmBinary(home: string, signal: AbortSignal, binary = "helm"): HelmBinary {
  const env = {
    PATH: process.env["PATH"] ?? ["/usr/local/bin", "/usr/bin", "/bin"].join(delimiter),
    HOME: home,
    HELM_CONFIG_HOME: `${home}/config`,
    HELM_CACHE_HOME: `${home}/cache`,
    HELM_DATA_HOME: `${home}/data`,
    HELM_PLUGINS: `${home}/plugins`,
    TMPDIR: home,
    ...Object.fromEntries(
      ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy"].flatMap((name) =>
        process.env[name] === undefined ? [] : [[name, process.env[name]]],
      ),
    ),
  };
  return {
    run: (args, { timeoutMs, input, mayBePlain = false }) =>
      new Promise<HelmEnd>((resolve) => {
        const child = spawn(binary, [...args], {
          cwd: home,
          env: mayBePlain ? env : { ...env, ...noPlainText },
          detached: true,
          stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
        });
        let isKilled = false;
        const kill = (name: "SIGTERM" | "SIGKILL"): void => {
          isKilled = true;
          if (child.pid === undefined) return;
          try {
            process.kill(-child.pid, name);
          } catch {
            // It has ended meanwhile.
          }
        };
        let hard: NodeJS.Timeout | undefined;
        const stop = (): void => {
          kill("SIGTERM");
          hard ??= setTimeout(() => kill("SIGKILL"), KILL_MS);
        };
        const limit = setTimeout(stop, timeoutMs);
        let isTooLarge = false;
        const memory = setInterval(() => {
          if (child.pid === undefined || residentBytes(child.pid) <= MOST_MEMORY) return;
          isTooLarge = true;
          kill("SIGKILL");
        }, LOOK_MS);
        if (signal.aborted) stop();
        signal.addEventListener("abort", stop, { once: true });
        const stdout = collect(child.stdout);
        const stderr = collect(child.stderr);
        const end = (kind: HelmEnd["kind"], code: number): void => {
          clearTimeout(limit);
          clearTimeout(hard);
          clearInterval(memory);
          signal.removeEventListener("abort", stop);
          resolve({ kind, code, stdout: stdout(), stderr: stderr() });
        };
        child.once("error", () => end("not-found", 127));
        child.once("close", (code) => end(isTooLarge ? "too-large" : isKilled ? "killed" : "exited", code ?? 1));
        child.stdin?.on("error", () => undefined);
        child.stdin?.end(input);
      }),
  };
}

/** 0 where the system does not tell it. */
function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1] ?? 0) * PAGE_BYTES;
  } catch {
    // Another system, or it has ended.
    return 0;
  }
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream?.on("data", (chunk: Buffer) => {
    if (bytes < MOST_OUTPUT) chunks.push(chunk);
    bytes += chunk.length;
  });
  return () => Buffer.concat(chunks).toString("utf8");
}
