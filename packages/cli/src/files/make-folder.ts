import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { errorCode } from "../cli-error.ts";

/**
 * Makes a folder, and those above it that are missing.
 *
 * `recursive` of Node's own never returns where a folder says ENOENT to a new one although it is there, as `/proc` does and what an automounter serves.
 *
 * @throws Error of `node:fs` when it cannot be made, or something else is there
 */
export function makeFolder(path: string, mode = 0o777): void {
  const full = resolve(path);
  if (existsSync(full) && statSync(full).isDirectory()) return;
  try {
    mkdirSync(full, { mode });
  } catch (error) {
    // Made by somebody else meanwhile.
    if (errorCode(error) === "EEXIST" && statSync(full).isDirectory()) return;
    const parent = dirname(full);
    if (errorCode(error) !== "ENOENT" || existsSync(parent)) throw error;
    makeFolder(parent, mode);
    mkdirSync(full, { mode });
  }
}
