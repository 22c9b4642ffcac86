import { chmodSync, existsSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { CliError, errorCode } from "../cli-error.ts";
import { makeFolder } from "./make-folder.ts";

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
    writeFileSync(path, text, { mode: 0o600, flag: force ? "w" : "wx" });
    // The mode above counts for new files only. A device has no owner to keep it for.
    if (force && statSync(path).isFile()) chmodSync(path, 0o600);
  } catch (error) {
    if (errorCode(error) === "EEXIST" && !force) throw alreadyThere(path);
    throw new CliError(`cannot write ${path} (${errorCode(error) ?? String(error)})`, "Give the path of a file that you may write.", {
      cause: error,
    });
  }
}

function alreadyThere(path: string): CliError {
  return new CliError(`file ${JSON.stringify(path)} already exists, use --force to overwrite`, "Or give another path.");
}
