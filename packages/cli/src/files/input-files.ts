import { readFileSync } from "node:fs";
import { CliError, errorCode } from "../cli-error.ts";

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory",
  EACCES: "permission denied",
  EISDIR: "is a directory",
  ENOTDIR: "not a directory",
};

/**
 * Text of a file that the user named; `-` is standard input.
 *
 * @throws CliError in talosctl's words
 */
export function readInput(path: string): string {
  try {
    return readFileSync(path === "-" ? 0 : path, "utf8");
  } catch (error) {
    const code = errorCode(error) ?? String(error);
    throw new CliError(`open ${path}: ${reasons[code] ?? code}`, "Give the path of a file that you may read.", { cause: error });
  }
}

/**
 * Texts of patches as talosctl takes them: `@file`, a text that is plainly YAML or JSON (it has a space or a new line, or begins with a
 * bracket), or else the name of a file.
 *
 * @throws CliError for files that cannot be read
 */
export function readPatches(given: readonly string[]): readonly string[] {
  return given.map((patch) => {
    if (patch.startsWith("@")) return readInput(patch.slice(1));
    const isText = /[\n ]/.test(patch) || patch.startsWith("[") || patch.startsWith("{");
    return isText ? patch : readInput(patch);
  });
}
