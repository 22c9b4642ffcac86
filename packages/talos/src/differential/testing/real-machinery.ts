import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** The genuine Talos machinery, asked over a pipe: the program of `hack/golden`. */
export interface Oracle {
  /** Such as `v1.13.9`. */
  readonly version: string;
  ask(kind: string, input: object): Promise<Readonly<Record<string, unknown>>>;
  close(): void;
}

/** Starts the program; it answers questions in their order. */
export async function startOracle(program: string): Promise<Oracle> {
  const version = await firstLine(program, ["version"]);
  const child = spawn(program, ["answer"], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting: { resolve: (line: string) => void; reject: (error: Error) => void }[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()?.resolve(line));
  child.on("exit", (code) => {
    for (const { reject } of waiting) reject(new Error(`the genuine machinery stopped with exit code ${code}`));
  });
  return {
    version,
    async ask(kind, input) {
      const line = await new Promise<string>((resolve, reject) => {
        waiting.push({ resolve, reject });
        child.stdin.write(`${JSON.stringify({ kind, input })}\n`);
      });
      return JSON.parse(line) as Record<string, unknown>;
    },
    close: () => child.stdin.end(),
  };
}

function firstLine(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
    createInterface({ input: child.stdout }).once("line", resolve);
    child.on("error", reject);
  });
}
