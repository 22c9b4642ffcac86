import { execFileSync } from "node:child_process";

/** Every `count`-th of a list, from the `index`-th. */
export interface Slice {
  readonly index: number;
  readonly count: number;
}

/**
 * `I/N` as people type it. `auto` is one of `parts`, depending on the commit, so that landings play all of them in turn.
 *
 * @returns undefined when the text is neither
 */
export function readSlice(text: string, parts: number): Slice | undefined {
  if (text === "auto") {
    const commit = execFileSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" }).trim();
    return { index: Number.parseInt(commit.slice(0, 8), 16) % parts, count: parts };
  }
  const [, index = "", count = ""] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  return count === "" || Number(index) >= Number(count) ? undefined : { index: Number(index), count: Number(count) };
}
