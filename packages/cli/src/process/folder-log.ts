import { createWriteStream, type WriteStream } from "node:fs";
import type { DataFolder } from "./data-folder.ts";

/** A log in the data folder, its owner's alone. @param failed called when it cannot be written: the disk is full */
export function openFolderLog(folder: DataFolder, name: string, flags: "a" | "w", failed: (error: Error) => void): WriteStream {
  return createWriteStream(folder.file(name), { flags, mode: 0o600 }).on("error", failed);
}
