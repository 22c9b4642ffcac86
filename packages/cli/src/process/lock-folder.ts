import { openLock } from "@talos-operator/apiserver/https";
import { CliError } from "../cli-error.ts";
import { unusable, type DataFolder } from "./data-folder.ts";

/** SQLite: the lock is taken. */
const BUSY = 5;

/** A lock that is held until it is closed or the process dies, however it dies. */
export interface FolderLock {
  close(): void;
}

/**
 * Holds the data folder for a process that keeps no objects in it, and writes its kubeconfig there all the same.
 *
 * It is the lock that the store of a process which does keep objects takes, so that the two exclude each other as well.
 *
 * @throws CliError when another process works on the folder
 */
export function lockFolder(folder: DataFolder): FolderLock {
  try {
    return openLock(folder.file("api.db.lock"));
  } catch (error) {
    if (error instanceof Error && "errcode" in error && typeof error.errcode === "number" && (error.errcode & 0xff) === BUSY)
      throw new CliError(
        `DATA_FOLDER_IN_USE: another process works on ${folder.path}`,
        "Stop it, or name another folder with --data-dir.",
        { cause: error },
      );
    throw unusable(folder.path, error);
  }
}
