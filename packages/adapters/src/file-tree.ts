import { constants } from "node:fs";
import { lstat, mkdir, open, readdir, realpath, rename, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { FileHandle } from "node:fs/promises";
import type { FileTree, FileTreeFailure } from "@talos-operator/ports";

/** More of a file is not read; what is written here is a few kilobytes. */
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * Files on disk below `root`, which is made when something is written and is resolved against the working directory now.
 *
 * The root itself may be a link, for it is the choice of whoever started the process. Below it links are refused: whoever may write there must not lead
 * this process elsewhere.
 */
export function createFileTree(root: string): FileTree {
  const base = resolve(root);
  const folderPath = async (folder: string): Promise<string | undefined> => {
    demandName(folder);
    const path = join(base, folder);
    try {
      if (!(await lstat(path)).isDirectory()) throw failure("OUTSIDE", `${path} is no folder, or a link`);
    } catch (thrown) {
      if (codeOf(thrown) === "ENOENT") return undefined;
      throw thrown;
    }
    return path;
  };
  return {
    async list(folder) {
      const path = await folderPath(folder);
      return path === undefined ? undefined : (await readdir(path)).toSorted();
    },
    async read(folder, file) {
      demandName(file);
      const path = await folderPath(folder);
      if (path === undefined) return undefined;
      try {
        // Of a pipe that nobody writes to the opening alone would never end.
        const handle = await open(join(path, file), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
        try {
          if (!(await handle.stat()).isFile()) throw failure("OUTSIDE", `${join(path, file)} is no file`);
          return await beginningOf(handle);
        } finally {
          await handle.close();
        }
      } catch (thrown) {
        if (codeOf(thrown) === "ENOENT") return undefined;
        throw thrown;
      }
    },
    async write(folder, file, text) {
      demandName(file);
      if ((await folderPath(folder)) === undefined) {
        await makeFolders(base);
        await mkdir(join(await realpath(base), folder), { mode: 0o755 });
      }
      const path = join(base, folder, file);
      const temporary = `${path}.tmp`;
      // A leftover of a process that was killed is replaced; a link in its place is not followed.
      await rm(temporary, { force: true });
      const handle = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o644);
      try {
        await handle.writeFile(text);
      } finally {
        await handle.close();
      }
      await rename(temporary, path);
    },
    async remove(folder, file) {
      demandName(file);
      const path = await folderPath(folder);
      if (path !== undefined) await rm(join(path, file), { force: true });
    },
    async removeFolder(folder) {
      const path = await folderPath(folder);
      if (path === undefined) return;
      try {
        await rmdir(path);
      } catch (thrown) {
        if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes(codeOf(thrown))) throw thrown;
      }
    },
  };
}

/**
 * Makes a folder, and those above it that are missing, one after the other.
 *
 * `recursive` of Node's own never ends, and holds a thread for ever, where a folder says ENOENT to a new one although it is there: below /proc, or where an
 * automounter serves.
 */
async function makeFolders(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (thrown) {
    if (codeOf(thrown) === "EEXIST" && (await stat(path)).isDirectory()) return;
    const parent = dirname(path);
    if (codeOf(thrown) !== "ENOENT" || parent === path || (await isThere(parent))) throw thrown;
    await makeFolders(parent);
    await mkdir(path).catch(async (second: unknown) => {
      if (codeOf(second) !== "EEXIST" || !(await stat(path)).isDirectory()) throw second;
    });
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (thrown) {
    if (codeOf(thrown) === "ENOENT") return false;
    throw thrown;
  }
}

/** Somebody's huge file must not fill the memory. */
async function beginningOf(handle: FileHandle): Promise<string> {
  const buffer = Buffer.alloc(Math.min((await handle.stat()).size, MOST_BYTES));
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.toString("utf8", 0, length);
}

/** A name is one step down, whatever it is made of. */
function demandName(name: string): void {
  if (name === "" || name === "." || name === ".." || /[/\\\0]/.test(name) || Buffer.byteLength(name) > 255)
    throw failure("OUTSIDE", `${JSON.stringify(name.slice(0, 64))} is no name of a file below the root`);
}

function failure(code: string, message: string): FileTreeFailure {
  return Object.assign(new Error(message), { code });
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
}
