import { execFile, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { HANGS_AFTER_MS } from "@talos-operator/adapters/testing";

const root = fileURLToPath(new URL("../..", import.meta.url));
const main = join(root, "packages/cli/src/main.ts");
const execFileAsync = promisify(execFile);

/** A temporary folder that is removed when the scope ends. */
export function temporaryFolder(): { readonly path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), "talos-operator-e2e-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

export interface Running {
  readonly pid: number;
  /** Everything that it printed so far, both streams. */
  output(): string;
  /** Resolves when the output matches. @throws when it exits first or time is up */
  says(pattern: RegExp): Promise<void>;
  /** Sends a signal and waits until it is gone. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
  readonly exited: Promise<number | null>;
}

/** Starts our command line from source. */
export function startOurs(...args: string[]): Running {
  return startCommand(process.execPath, [main, ...args]);
}

export function startCommand(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Running {
  const child: ChildProcess = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  const listeners = new Set<() => void>();
  const hear = (chunk: Buffer): void => {
    text += chunk.toString();
    for (const listener of listeners) listener();
  };
  child.stdout?.on("data", hear);
  child.stderr?.on("data", hear);
  let isGone = false;
  const exited = new Promise<number | null>((resolve) => {
    child.on("close", (code) => {
      isGone = true;
      for (const listener of listeners) listener();
      resolve(code);
    });
  });
  if (child.pid === undefined) throw new Error(`${command} could not be started`);
  return {
    pid: child.pid,
    output: () => text,
    exited,
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const settle = (finish: () => void): void => {
          clearTimeout(timer);
          listeners.delete(look);
          finish();
        };
        const look = (): void => {
          if (pattern.test(text)) settle(resolve);
          else if (isGone) settle(() => reject(new Error(`${args.join(" ")} ended before it said ${pattern}:\n${text}`)));
        };
        const timer = setTimeout(
          () => settle(() => reject(new Error(`${args.join(" ")} never said ${pattern}:\n${text}`))),
          HANGS_AFTER_MS,
        );
        listeners.add(look);
        look();
      }),
    async end(signal = "SIGTERM") {
      if (!isGone) child.kill(signal);
      return exited;
    },
  };
}

export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** Runs a command to its end; a non-zero exit is a result. */
export async function run(
  command: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv } = {},
): Promise<CommandResult> {
  try {
    const { stdout, stderr } = await execFileAsync(command, args, {
      cwd: root,
      timeout: HANGS_AFTER_MS,
      env: options.env ?? process.env,
      maxBuffer: 64 * 2 ** 20,
    });
    return { stdout, stderr, code: 0 };
  } catch (error) {
    const failed = error as { stdout?: string; stderr?: string; code?: unknown; message: string };
    return {
      stdout: failed.stdout ?? "",
      stderr: failed.stderr ?? failed.message,
      code: typeof failed.code === "number" ? failed.code : 1,
    };
  }
}

/** Runs a command that must succeed, and gives its standard output. */
export async function must(command: string, args: readonly string[], options: { readonly env?: NodeJS.ProcessEnv } = {}): Promise<string> {
  const result = await run(command, args, options);
  if (result.code !== 0) throw new Error(`${command} ${args.join(" ")} failed with ${result.code}:\n${result.stderr}\n${result.stdout}`);
  return result.stdout;
}
