import { PassThrough } from "node:stream";
import { createProgram } from "../../program.ts";
import { commandGroups, commands } from "../index.ts";

export interface CommandRun {
  readonly out: Buffer;
  readonly err: string;
  readonly error: Error | undefined;
}

/** Runs one command as `main` does, and keeps what it says and throws. */
export async function runCommand(
  words: readonly string[],
  options: { readonly signal?: AbortSignal; readonly isTTY?: boolean } = {},
): Promise<CommandRun> {
  const [stdout, stderr] = [new PassThrough({ highWaterMark: 1 << 30 }), new PassThrough({ highWaterMark: 1 << 30 })];
  if (options.isTTY === true) Object.assign(stdout, { isTTY: true });
  const context = {
    signal: options.signal ?? new AbortController().signal,
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: stderr as unknown as NodeJS.WriteStream,
  };
  let error: Error | undefined;
  try {
    await createProgram(commands, "0", context, commandGroups).parseAsync([...words], { from: "user" });
  } catch (thrown) {
    error = thrown as Error;
  }
  return { out: (stdout.read() as Buffer | null) ?? Buffer.alloc(0), err: String(stderr.read() ?? ""), error };
}
