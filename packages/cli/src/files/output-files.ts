import { randomBytes } from "node:crypto";
import { existsSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { CliError, errorCode } from "../cli-error.ts";
import { makeFolder } from "./make-folder.ts";
import { writeNew, writeWhole } from "./write-whole.ts";

/** A text with keys in it, and where it goes. */
export interface OutputFile {
  /** `-` is standard output. */
  readonly path: string;
  readonly text: string;
}

/**
 * Refuses to go on when one of the files exists: keys that are overwritten are lost, and with them the cluster.
 *
 * @throws CliError in talosctl's words
 */
export function checkNoneExists(paths: readonly string[], { force }: { readonly force: boolean }): void {
  const taken = force ? undefined : paths.find((path) => path !== "-" && existsSync(path));
  if (taken !== undefined) throw alreadyThere(taken);
}

/**
 * Writes a file that its owner alone may read; missing folders are made. Without `force` a file that is there stays as it is.
 *
 * @throws CliError when it is there, or cannot be written
 */
export function writeOutput(
  { path, text }: OutputFile,
  { force, stdout }: { readonly force: boolean; readonly stdout: NodeJS.WriteStream },
): void {
  if (path === "-") {
    stdout.write(text);
    return;
  }
  try {
    makeFolder(dirname(path));
    if (!force) writeNew(path, text, { durable: true });
    else if (!existsSync(path)) replaceFile(path, text);
    // Behind a link the file is replaced, not the link, as talosctl does. A device or a pipe is written to.
    else if (statSync(path).isFile()) replaceFile(realpathSync(path), text);
    else writeFileSync(path, text);
  } catch (error) {
    if (errorCode(error) === "EEXIST" && !force) throw alreadyThere(path);
    throw new CliError(`cannot write ${path} (${errorCode(error) ?? String(error)})`, "Give the path of a file that you may write.", {
      cause: error,
    });
  }
}

/** The name beside it cannot be guessed: in a folder of several users somebody might wait for it. */
function replaceFile(path: string, text: string): void {
  writeWhole(path, text, { temporary: `${path}.${randomBytes(8).toString("hex")}.tmp`, durable: true });
}

export function alreadyThere(path: string): CliError {
  return new CliError(`file ${JSON.stringify(path)} already exists, use --force to overwrite`, "Or give another path.");
}
