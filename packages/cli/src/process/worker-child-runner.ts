import { fork, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { ListedRun, RunOwner, WorkerKind, WorkerRunner } from "@talos-operator/operator";
import type { Logger } from "@talos-operator/ports";
import { errorCode } from "../cli-error.ts";
import { makeFolder } from "../files/make-folder.ts";
import { writeNew, writeWhole } from "../files/write-whole.ts";

/** A worker that is asked to stop undoes what it began for ten seconds at most. Milliseconds. */
const STOP_MS = 15_000;

/** A line of a worker in the log is cut here. */
const LONGEST_LINE = 2_000;

/** What `docs/adr/0040` calls a worker is small: no more heap than a Job of its own gets by default. Helm is another process. */
const MEMORY = ["--max-semi-space-size=1", "--semi-space-growth-factor=1", "--max-old-space-size=128"];

export interface ChildRunnerOptions<Result> {
  readonly kind: Pick<WorkerKind<Result>, "component" | "command" | "readResult">;
  /** The command line itself, as a file that Node runs. */
  readonly program: string;
  /** Its owner's alone: it holds keys while a run goes on. */
  readonly folder: string;
  /** Of the command, beside those of the run. */
  readonly flags?: readonly string[];
  readonly log: Logger;
}

export interface ChildRunner<Task, Secrets, Result> extends WorkerRunner<Task, Secrets, Result> {
  /** Asks all workers to stop, and waits until they have ended. */
  close(): Promise<void>;
}

/**
 * Runs workers as child processes of this one, which they do not outlive: a run of an earlier process has ended, with its result where it wrote one.
 *
 * A run is a folder: what it does, for whom, and in the end its result. It is there until {@link WorkerRunner.remove}.
 */
export function createWorkerChildRunner<Task, Secrets extends object, Result>({
  kind,
  program,
  folder,
  flags: further = [],
  log,
}: ChildRunnerOptions<Result>): ChildRunner<Task, Secrets, Result> {
  const living = new Map<string, { readonly child: ChildProcess; readonly since: number; readonly ended: Promise<void> }>();
  const pathOf = (name: string, file = ""): string => {
    if (!/^[\w-]{1,63}$/.test(name)) throw new Error(`a run cannot have the name ${JSON.stringify(name)}`);
    return join(folder, name, file);
  };

  const begin = (name: string): void => {
    const flags = [
      `--task=${pathOf(name, "task.json")}`,
      `--secrets=${pathOf(name, "secrets.json")}`,
      `--result=${pathOf(name, "result.json")}`,
      // What it writes beside, keys among it, goes with its run, whatever ends the worker.
      `--scratch-directory=${pathOf(name)}`,
      ...further,
    ];
    // With a channel, by whose end a worker sees that nobody waits for it any more.
    const child = fork(program, [kind.command, ...flags], { execArgv: MEMORY, stdio: ["ignore", "ignore", "pipe", "ipc"] });
    const ended = new Promise<void>((resolve) => {
      child.once("error", (err) => {
        log.warn({ err, run: name }, "A worker cannot be started");
        if (child.pid === undefined) resolve();
      });
      child.once("close", () => resolve());
    }).then(() => {
      living.delete(name);
      rmSync(pathOf(name, "secrets.json"), { force: true });
    });
    living.set(name, { child, since: Date.now(), ended });
    if (child.stderr !== null)
      createInterface({ input: child.stderr }).on("line", (line) =>
        log.debug({ run: name, line: line.slice(0, LONGEST_LINE) }, "A worker says"),
      );
  };

  const stop = async (name: string): Promise<void> => {
    const run = living.get(name);
    if (run === undefined) return;
    run.child.kill("SIGTERM");
    const hard = setTimeout(() => run.child.kill("SIGKILL"), STOP_MS);
    await run.ended;
    clearTimeout(hard);
  };

  return {
    start({ name, task, secrets, owner }) {
      const path = pathOf(name);
      if (has(path)) return Promise.resolve();
      try {
        makeFolder(path, 0o700);
        // Whose it is before everything else: what is written by halves when this process dies is found and removed.
        writeNew(pathOf(name, "owner.json"), JSON.stringify(owner), { durable: false });
        writeNew(pathOf(name, "task.json"), JSON.stringify(task), { durable: false });
        writeNew(pathOf(name, "secrets.json"), JSON.stringify(secrets), { durable: false });
      } catch (error) {
        rmSync(path, { recursive: true, force: true });
        return Promise.reject(error);
      }
      begin(name);
      return Promise.resolve();
    },
    look(name) {
      const path = pathOf(name);
      const run = living.get(name);
      if (run !== undefined) return Promise.resolve({ kind: "running", since: run.since });
      if (!has(path)) return Promise.resolve({ kind: "absent" });
      return Promise.resolve({ kind: "ended", result: kind.readResult(read(pathOf(name, "result.json"))), at: statSync(path).mtimeMs });
    },
    async remove(name) {
      await stop(name);
      rmSync(pathOf(name), { recursive: true, force: true });
    },
    async refresh(name, renewed) {
      const path = pathOf(name, "secrets.json");
      const text = living.has(name) ? read(path) : undefined;
      if (text === undefined) return;
      const secrets = { ...(JSON.parse(text) as Secrets), ...renewed };
      writeWhole(path, JSON.stringify(secrets), { temporary: `${path}.new`, durable: false });
    },
    list: () =>
      Promise.resolve(
        foldersIn(folder, kind.component).flatMap((name) => listed(name, read(pathOf(name, "owner.json")), !living.has(name))),
      ),
    async close() {
      await Promise.all([...living.keys()].map(stop));
    },
  };
}

function listed(name: string, text: string | undefined, hasEnded: boolean): readonly ListedRun[] {
  const owner = text === undefined || text === "" ? undefined : (JSON.parse(text) as RunOwner);
  return owner === undefined ? [] : [{ name, owner, hasEnded }];
}

function has(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function foldersIn(folder: string, component: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.startsWith(`${component}-`) && /^[0-9a-f]+$/.test(name.slice(component.length + 1)));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
