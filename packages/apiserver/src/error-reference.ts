import type { ApiServerErrorCode } from "./api-server-error.ts";

/** What a person reads about each code. `npm run generate` writes `docs/reference/errors/apiserver.md` from it; nothing at run time loads it. */
export const errorReference: {
  readonly page: string;
  readonly title: string;
  /** Lines above the codes, Markdown. */
  readonly intro: readonly string[];
  readonly codes: Readonly<Record<ApiServerErrorCode, { readonly cause: string; readonly effect: string; readonly remedy: string }>>;
} = {
  page: "apiserver",
  title: "Errors of apiserver",
  intro: [
    "`ApiServerError` with `code` and `retry` (`never`, `backoff`): failures to start or to store. The message begins with the code. Refusals of requests are",
    "Kubernetes `Status` objects with the reasons and texts of kube-apiserver and are not listed here.",
  ],
  codes: {
    DATA_FOLDER_IN_USE: {
      cause: "Another process holds the lock of the data folder.",
      effect:
        "Nothing was opened or changed. The lock goes with its process, also after `kill -9`; the file `api.db.lock` says nothing by being there and need not be removed.",
      remedy: "Stop the other process, or name another folder with `--data-dir`.",
    },
    DATA_FOLDER_NOT_WRITABLE: {
      cause:
        "The folder or the file cannot be created or opened for writing: permissions, a read-only file system, no space, a file where the folder should be.",
      effect: "The API does not start.",
      remedy: "Free space, correct the permissions, or name another folder with `--data-dir`.",
    },
    DATA_FILE_DAMAGED: {
      cause: "The file is no SQLite file, is corrupt or cut short, holds what is no object, or belongs to another program.",
      effect: "The API does not start and leaves the file as it is.",
      remedy:
        "Move the folder away and put a copy of the whole folder in its place, then start again; a copy is made with `cp -r`, also while the API runs. Without a copy begin in another folder.",
    },
    DATA_FILE_NEWER: {
      cause: "A newer version of the product wrote the file.",
      effect: "The API does not start and leaves the file as it is.",
      remedy: "Run that version, or name another data folder.",
    },
    STORE_WRITE_FAILED: {
      cause: "The disk is full, or became read-only, while the API was running.",
      effect:
        "The request is answered with 500 `InternalError`; nothing was stored and what is in memory is as before. Reads and watches go on.",
      remedy: "Free space or correct the permissions, then repeat the request. No restart is needed.",
    },
    PORT_IN_USE: {
      cause: "Another process listens on the address and port.",
      effect: "This front end does not start.",
      remedy: "Stop the other process, or choose another port with the flag that the message names.",
    },
    ADDRESS_NOT_AVAILABLE: {
      cause: "The address is not one of this machine, or the port needs privileges.",
      effect: "This front end does not start.",
      remedy: "Choose an address of this machine and a port you may use. On systems that bind only 127.0.0.1, add the alias first.",
    },
    CERTIFICATE_UNUSABLE: {
      cause: "The server certificate, its key or a client CA is not PEM, or key and certificate do not belong together.",
      effect: "This front end does not start.",
      remedy: "Give matching PEM texts.",
    },
  },
};
