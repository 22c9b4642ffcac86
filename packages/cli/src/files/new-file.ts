import { randomBytes } from "node:crypto";
import { closeSync, existsSync, fsyncSync, linkSync, openSync, realpathSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { CliError, errorCode } from "../cli-error.ts";
import { makeFolder } from "./make-folder.ts";
import { alreadyThere } from "./output-files.ts";
import { syncFolder } from "./write-whole.ts";

/** A large file that its owner alone may read, and that is there as a whole or not at all. */
export interface NewFile {
  write(chunk: Uint8Array): void;
  /** Gives it its name. @throws CliError when the name was taken meanwhile */
  commit(): void;
  /** Removes what was written; nothing after `commit`. */
  close(): void;
}

/** @throws CliError when there is one and `force` does not hold, or it cannot be written */
export function createNewFile(path: string, { force }: { readonly force: boolean }): NewFile {
  if (!force && existsSync(path)) throw alreadyThere(path);
  const guarded = <T>(act: () => T): T => {
    try {
      return act();
    } catch (error) {
      if (error instanceof CliError) throw error;
      const remedy =
        errorCode(error) === "ENOSPC"
          ? "Make room, or give the path of a file on another disk."
          : "Give the path of a file that you may write.";
      throw new CliError(`cannot write ${path} (${errorCode(error) ?? String(error)})`, remedy, { cause: error });
    }
  };
  return guarded(() => {
    makeFolder(dirname(path));
    const isThere = existsSync(path);
    // A device or a pipe is written to.
    if (isThere && !statSync(path).isFile()) return written(openSync(path, "w"), guarded);
    // Behind a link the file is replaced, not the link.
    const target = isThere ? realpathSync(path) : path;
    const draft = `${target}.${randomBytes(8).toString("hex")}.tmp`;
    const file = written(openSync(draft, "wx", 0o600), guarded);
    let isNamed = false;
    return {
      write: (chunk) => file.write(chunk),
      commit() {
        guarded(() => {
          file.commit();
          file.close();
          if (force) renameSync(draft, target);
          else name(draft, target);
          isNamed = true;
          syncFolder(dirname(target));
        });
      },
      close() {
        file.close();
        if (!isNamed) rmSync(draft, { force: true });
      },
    };
  });
}

function written(file: number, guarded: <T>(act: () => T) => T): NewFile {
  let isOpen = true;
  return {
    write(chunk) {
      guarded(() => {
        for (let at = 0; at < chunk.length;) at += writeSync(file, chunk, at);
      });
    },
    commit() {
      try {
        fsyncSync(file);
      } catch (error) {
        // Pipes and devices have nothing to sync.
        if (errorCode(error) !== "EINVAL" && errorCode(error) !== "ENOTSUP") throw error;
      }
    },
    close() {
      if (isOpen) closeSync(file);
      isOpen = false;
    },
  };
}

/** Of several that name a file only one succeeds by a link; not every file system has them. */
function name(draft: string, path: string): void {
  try {
    linkSync(draft, path);
    rmSync(draft, { force: true });
  } catch (error) {
    if (errorCode(error) === "EEXIST" || existsSync(path)) throw alreadyThere(path);
    renameSync(draft, path);
  }
}
