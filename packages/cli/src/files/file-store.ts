import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { StoredObject } from "@talos-operator/ports";
import type { ReadableStore } from "@talos-operator/backup/reading";
import { CliError, errorCode } from "../cli-error.ts";

const PIECE = 1 << 18;

/** Files of this machine by their paths, read as objects are. A link leads where it leads: the person named it. */
export const fileStore: ReadableStore = {
  place: "this file system",
  head: described,
  async get(path, options) {
    const found = await described(path);
    if (found === undefined) return undefined;
    const { offset = 0, signal } = options ?? {};
    const body = createReadStream(path, { start: offset, highWaterMark: PIECE, ...(signal === undefined ? {} : { signal }) });
    return { ...found, body: body as AsyncIterable<Uint8Array> };
  },
};

async function described(path: string): Promise<StoredObject | undefined> {
  try {
    const { size, mtimeMs, ino } = await stat(path);
    return { key: path, size, etag: `${ino}-${size}-${mtimeMs}`, modifiedAt: mtimeMs };
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new CliError(`${path} cannot be read (${code ?? "unknown"})`, "Name a file that you may read.", { cause: error });
  }
}
