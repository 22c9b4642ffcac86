import { accessSync, constants, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { CliError, errorCode } from "../cli-error.ts";
import { makeFolder } from "../files/make-folder.ts";

/** The folder that holds everything a local process keeps. Files are written whole or not at all, readable by the owner only. */
export interface DataFolder {
  readonly path: string;
  /** Absolute path of a file inside; its folder exists. */
  file(...segments: string[]): string;
  /** Text of a file, `undefined` when there is none. */
  read(...segments: string[]): string | undefined;
  write(text: string, ...segments: string[]): void;
}

export function openDataFolder(path: string): DataFolder {
  const root = resolve(path);
  try {
    makeFolder(root, 0o700);
    accessSync(root, constants.W_OK);
    // Access bits say nothing about a full or read-only file system, nor to root: only a write does.
    writeFileSync(join(root, ".writable"), "", { mode: 0o600 });
  } catch (error) {
    throw unusable(root, error);
  }

  const file = (...segments: string[]): string => {
    const full = join(root, ...segments);
    if (!full.startsWith(root)) throw new Error(`path ${segments.join("/")} leaves the data folder`);
    makeFolder(join(full, ".."), 0o700);
    return full;
  };
  return {
    path: root,
    file,
    read(...segments) {
      try {
        return readFileSync(file(...segments), "utf8");
      } catch (error) {
        if (errorCode(error) === "ENOENT") return undefined;
        throw unusable(root, error);
      }
    },
    write(text, ...segments) {
      const full = file(...segments);
      try {
        writeFileSync(`${full}.new`, text, { mode: 0o600 });
        renameSync(`${full}.new`, full);
      } catch (error) {
        throw unusable(root, error);
      }
    },
  };
}

/** What a failed write, read or log line in the data folder means to people. */
export function unusable(root: string, error: unknown): CliError {
  const code = errorCode(error) ?? String(error);
  const remedies: Record<string, string> = {
    EACCES: "Give yourself the right to write there, or choose another folder with --data-dir.",
    EPERM: "Give yourself the right to write there, or choose another folder with --data-dir.",
    EROFS: "It is on a read-only file system: choose another folder with --data-dir.",
    ENOSPC: "The disk is full: free some space, or choose another folder with --data-dir.",
    ENOTDIR: "Part of the path is a file: choose another folder with --data-dir.",
    EEXIST: "It is a file: choose another folder with --data-dir.",
  };
  return new CliError(`cannot use the data folder ${root} (${code})`, remedies[code] ?? "Choose another folder with --data-dir.", {
    cause: error,
  });
}
