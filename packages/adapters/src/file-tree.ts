import { constants } from "node:fs";
import { lstat, mkdir, open, readdir, realpath, rename, rm, rmdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { FileTree, FileTreeFailure } from "@talos-operator/ports";

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
        const handle = await open(join(path, file), constants.O_RDONLY | constants.O_NOFOLLOW);
        try {
          return await handle.readFile("utf8");
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
        await mkdir(base, { recursive: true });
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
