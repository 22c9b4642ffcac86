import { ApiServerError } from "../api-server-error.ts";

/** SQLite result codes, of which the low byte counts. @see https://www.sqlite.org/rescode.html */
const resultCodes = { busy: 5, corrupt: 11, notADatabase: 26 } as const;

function resultCodeOf(cause: unknown): number {
  return cause instanceof Error && "errcode" in cause && typeof cause.errcode === "number" ? cause.errcode & 0xff : 0;
}

/** The failure to open or read a data file, with what to do. Errors that say it already pass unchanged. */
export function openingFailed(path: string, cause: unknown): ApiServerError {
  if (cause instanceof ApiServerError) return cause;
  switch (resultCodeOf(cause)) {
    case resultCodes.busy:
      return new ApiServerError("DATA_FOLDER_IN_USE", `another process works on ${path}; stop it, or name another folder with --data-dir`, {
        cause,
      });
    case resultCodes.corrupt:
    case resultCodes.notADatabase:
      return damaged(path, cause);
    default: {
      const why = cause instanceof Error ? cause.message : String(cause);
      return new ApiServerError(
        "DATA_FOLDER_NOT_WRITABLE",
        `${path} cannot be opened for writing (${why}); free space, correct the permissions, or name another folder with --data-dir`,
        { cause },
      );
    }
  }
}

/** A file that is no data file any more. */
export function damaged(path: string, cause?: unknown): ApiServerError {
  return new ApiServerError(
    "DATA_FILE_DAMAGED",
    `${path} cannot be read as a data file; move it away or restore a copy, then start again`,
    {
      cause,
    },
  );
}
