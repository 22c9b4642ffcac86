// Remembers on which commits the gate passed, so that the next run knows what is new. Plain JavaScript for Node 20.
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../parts.mjs";
import { baseOf } from "./choose.mjs";

const file = join(cacheFolder, "gate", "passed");

function git(...args) {
  const { status, stdout } = spawnSync("git", args, { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

/** Since when things are new, as git names it. */
export function diffBase() {
  const ancestors = (git("rev-list", "-n", "2000", "HEAD") ?? "").split("\n").slice(1);
  return baseOf(ancestors, new Set(read()));
}

/** The commit that the working tree is. Undefined: it has changes, so it is none. */
export function cleanCommit() {
  return git("status", "--porcelain") === "" ? git("rev-parse", "HEAD") : undefined;
}

/** @param begun `cleanCommit` when the gate began: nothing is remembered of what changed under it, or was no commit */
export function rememberPassed(begun) {
  if (begun === undefined || cleanCommit() !== begun) return;
  mkdirSync(join(cacheFolder, "gate"), { recursive: true });
  appendFileSync(file, `${begun}\n`);
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
