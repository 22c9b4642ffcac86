import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { CliError, errorCode } from "../cli-error.ts";
import { readInput } from "../files/input-files.ts";
import { writeWhole } from "../files/write-whole.ts";

/** What Kubernetes takes as a termination message. */
const MAX_RESULT_BYTES = 4_096;

/** Whoever forked this process is gone: nobody asks for the answer any more. Aborts never in a process that nobody forked. */
export function untilOrphaned(): AbortSignal {
  const orphaned = new AbortController();
  if (process.connected) process.once("disconnect", () => orphaned.abort());
  return orphaned.signal;
}

/** What the operator wrote. @throws CliError without a word of the file: it may hold keys */
export function readJson(path: string): Readonly<Record<string, unknown>> {
  const text = readInput(path);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Readonly<Record<string, unknown>>;
  } catch {
    // Said below, without a word of the file: it may hold keys.
  }
  throw new CliError(`${path} is no JSON object`, "Give the file that the operator wrote.");
}

/**
 * Writes a worker's answer: as a whole where a file can be replaced; a termination message is a mount, which is written to.
 *
 * @param shorter what would make an answer that is too long shorter
 * @throws CliError
 */
export function writeResult(path: string, result: object, shorter: string): void {
  const text = JSON.stringify(result);
  const size = Buffer.byteLength(text);
  if (size > MAX_RESULT_BYTES) throw new CliError(`the answer has ${size} bytes, and ${MAX_RESULT_BYTES} are the most`, shorter);
  try {
    writeWhole(path, text, { temporary: `${path}.${randomBytes(8).toString("hex")}.tmp`, durable: true });
  } catch (error) {
    if (!["EBUSY", "EROFS", "EACCES", "EXDEV", "EPERM"].includes(errorCode(error) ?? "")) throw unwritable(path, error);
    try {
      writeFileSync(path, text);
    } catch (cause) {
      throw unwritable(path, cause);
    }
  }
}

function unwritable(path: string, cause: unknown): CliError {
  return new CliError(`cannot write ${path} (${errorCode(cause) ?? String(cause)})`, "Give the path of a file that you may write.", {
    cause,
  });
}
