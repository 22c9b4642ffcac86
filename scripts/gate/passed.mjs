// Remembers on which commits the gate passed, so that the next run knows what is new. Plain JavaScript for Node 20.
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../parts.mjs";

const file = join(cacheFolder, "gate", "passed");

/** How far back the gate looks where it has not passed yet. */
const COMMITS = 20;

function git(...args) {
  const { status, stdout } = spawnSync("git", args, { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

/** The newest ancestor on which the gate passed, else the commit of 20 commits ago, else the first one. */
export function diffBase() {
  const passed = new Set(read());
  const ancestors = (git("rev-list", "--first-parent", "-n", "2000", "HEAD") ?? "").split("\n").slice(1);
  return ancestors.find((commit) => passed.has(commit)) ?? ancestors[COMMITS - 1] ?? ancestors.at(-1) ?? "HEAD";
}

/** Nothing is remembered of a working tree with changes: it is no commit. */
export function rememberPassed() {
  if (git("status", "--porcelain") !== "") return;
  mkdirSync(join(cacheFolder, "gate"), { recursive: true });
  appendFileSync(file, `${git("rev-parse", "HEAD")}\n`);
}

function read() {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch (error) {
    // It has not passed yet.
    if (error.code === "ENOENT") return [];
    throw error;
  }
}
