import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { errorCode } from "../cli-error.ts";

/** Of whoever made it: where its process ids count, and its own. `mkdtemp` adds six characters. */
const NAME = /^talos-operator-runs-([0-9a-f]{12})-(\d+)-\w{6}$/;

/**
 * Makes a folder for the runs of this process, which holds keys while a run goes on. It tells by its name whose it is, so that it can be removed after a process
 * that was killed.
 */
export function makeRunsFolder(parent = tmpdir()): string {
  return mkdtempSync(join(parent, `talos-operator-runs-${placeOfIds()}-${process.pid}-`));
}

/** Removes folders of runs whose processes are gone: of this user, and where their ids mean here what they meant there. */
export function removeAbandonedRuns(parent = tmpdir()): void {
  for (const name of namesIn(parent)) {
    const [, place, pid] = NAME.exec(name) ?? [];
    if (place !== placeOfIds() || isAlive(Number(pid)) || !isOwn(join(parent, name))) continue;
    rmSync(join(parent, name), { recursive: true, force: true });
  }
}

/** None where the folder can be written to and not listed. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Processes of another machine or container may share the folder, and have ids of their own. */
function placeOfIds(): string {
  return createHash("sha256").update(`${hostname()} ${namespaceOfIds()}`).digest("hex").slice(0, 12);
}

function namespaceOfIds(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    // Only Linux has it.
    return "";
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) !== "ESRCH";
  }
}

function isOwn(path: string): boolean {
  const uid = statSync(path, { throwIfNoEntry: false })?.uid;
  return uid !== undefined && (process.getuid === undefined || uid === process.getuid());
}
