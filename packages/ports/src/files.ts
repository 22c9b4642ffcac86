/**
 * Folders of text files below one root: `<root>/<folder>/<file>`. One implementation is the disk, one a map in simulation.
 *
 * `folder` and `file` are single names: no separators, not `.` or `..`. Every method throws {@link FileTreeFailure} for one that is none, and for whatever
 * else went wrong.
 */
export interface FileTree {
  /** Names of the files in a folder, sorted; `undefined` when there is no such folder. */
  list(folder: string): Promise<readonly string[] | undefined>;
  /** `undefined` when there is no such file. Of a file of somebody else that is huge only the beginning, some megabytes. */
  read(folder: string, file: string): Promise<string | undefined>;
  /** Makes the folder when it is missing, and replaces the file as a whole: a reader sees the text before or after, never a part. */
  write(folder: string, file: string, text: string): Promise<void>;
  /** Nothing when there is no such file. */
  remove(folder: string, file: string): Promise<void>;
  /** Removes a folder that is empty; leaves one that still holds something, whosever it is. */
  removeFolder(folder: string): Promise<void>;
}

/** Why a file could not be read or written: an `Error` with a code of the system (`EACCES`, `EROFS`, `ENOSPC`), `OUTSIDE` for what would leave the root or is no file, or `NO_ANSWER` for a file system that hangs. */
export interface FileTreeFailure extends Error {
  readonly code: string;
}
