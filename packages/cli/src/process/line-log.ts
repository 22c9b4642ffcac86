import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { CliError } from "../cli-error.ts";

/** A file of JSON lines, one record each. */
export interface LineLog {
  write(record: Readonly<Record<string, unknown>>): void;
  close(): Promise<void>;
}

/** Appends to `path`. @throws CliError when it cannot be opened */
export async function openLineLog(path: string): Promise<LineLog> {
  const stream = createWriteStream(path, { flags: "a", mode: 0o600 });
  try {
    await once(stream, "open");
  } catch (error) {
    throw new CliError(`cannot write ${path}: ${(error as Error).message}`, "Choose another file.", { cause: error });
  }
  return {
    write: (record) => void stream.write(`${JSON.stringify(record)}\n`),
    async close() {
      stream.end();
      await once(stream, "close");
    },
  };
}
