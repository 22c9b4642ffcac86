import { accessSync, constants, readFileSync, writeFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { CliError, errorCode } from "../cli-error.ts";
import { makeFolder } from "../files/make-folder.ts";
import { writeWhole } from "../files/write-whole.ts";
import { closeFolder } from "./close-folder.ts";

/** The folder that holds everything a local process keeps, keys among it: it and all in it are its owner's alone. Files are written whole or not at all. */
export interface DataFolder {
  readonly path: string;
  /** Absolute path of a file inside; its folder exists. */
  file(...segments: string[]): string;
  /** Text of a file, `undefined` when there is none. */
  read(...segments: string[]): string | undefined;
  /** Replaces a file. It survives the death of the process. */
  write(text: string, ...segments: string[]): void;
  /** As `write`, but nothing is touched when the file holds this text already, and it survives a power cut: for what people rely on, and rarely written. */
  keep(text: string, ...segments: string[]): void;
}

/** @throws CliError when it cannot be used, or others may read it and it cannot be closed to them */
export function openDataFolder(path: string): DataFolder {
  const named = resolve(path);
  let root = named;
  try {
    makeFolder(named, 0o700);
    root = closeFolder(named);
    accessSync(root, constants.W_OK);
    probe(root);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw unusable(named, error);
  }

  const file = (...segments: string[]): string => {
    const full = join(root, ...segments);
    if (!full.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)) throw new Error(`path ${segments.join("/")} leaves the data folder`);
    makeFolder(join(full, ".."), 0o700);
    return full;
  };
  const read = (...segments: string[]): string | undefined => {
    try {
      return readFileSync(file(...segments), "utf8");
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      throw unusable(root, error);
    }
  };
  const replace = (text: string, durable: boolean, segments: readonly string[]): void => {
    try {
      const full = file(...segments);
      writeWhole(full, text, { temporary: `${full}.new`, durable });
    } catch (error) {
      throw unusable(root, error);
    }
  };
  return {
    path: root,
    file,
    read,
    write: (text, ...segments) => replace(text, false, segments),
    keep: (text, ...segments) => {
      // On a full disk a process that has nothing new to say goes on.
      if (read(...segments) !== text) replace(text, true, segments);
    },
  };
}

/** Access bits say nothing about a read-only file system, nor to root: only a write does. */
function probe(root: string): void {
  try {
    writeFileSync(join(root, ".writable"), "", { mode: 0o600 });
  } catch (error) {
    // Whether a full disk is in the way is for those to say who have something to write.
    if (!["ENOSPC", "EDQUOT"].includes(errorCode(error) ?? "")) throw error;
  }
}

/** What a failed write, read or log line in the data folder means to people. */
export function unusable(root: string, error: unknown): CliError {
  const code = errorCode(error) ?? String(error);
  const remedies: Record<string, string> = {
    EACCES: "Give yourself the right to write there, or choose another folder with --data-dir.",
    EPERM: "Give yourself the right to write there, or choose another folder with --data-dir.",
    EROFS: "It is on a read-only file system: choose another folder with --data-dir.",
    ENOSPC: "The disk is full: free some space, or choose another folder with --data-dir.",
    EDQUOT: "The quota is used up: free some space, or choose another folder with --data-dir.",
    ENAMETOOLONG: "The path is too long: choose another folder with --data-dir.",
    ELOOP: "A link in the path leads to itself: choose another folder with --data-dir.",
    ENOTDIR: "Part of the path is a file: choose another folder with --data-dir.",
    EEXIST: "It is a file: choose another folder with --data-dir.",
  };
  return new CliError(`cannot use the data folder ${root} (${code})`, remedies[code] ?? "Choose another folder with --data-dir.", {
    cause: error,
  });
}
