// One installation at a time in one clone. The lock is a file that names the processes which install: the launcher, and npm, which goes on when the launcher is killed.
// It is free when they are gone; nobody has to remove it by hand after a crash.
"use strict";
const fs = require("fs");
const os = require("os");
const path = require("path");

/** Processes of another host, or container, cannot be looked for: they touch their lock this often, and are taken for gone after a while. */
const TOUCH_MS = 5000;
const GONE_MS = 60000;
/** A lock that is being written has nothing in it for a moment. */
const WRITTEN_MS = 10000;

/** The lock of a clone: `take` answers undefined when it was taken, else who has it. */
function createInstallLock(root) {
  const file = path.join(root, ".install-lock");
  let touching;
  const mine = () => ({ host: os.hostname(), processes: [identityOf(process.pid)] });

  function take() {
    for (;;) {
      try {
        fs.writeFileSync(file, JSON.stringify(mine()), { flag: "wx" });
        touching = setInterval(touch, TOUCH_MS);
        touching.unref();
        return undefined;
      } catch (error) {
        if (error.code !== "EEXIST") throw error;
      }
      const holder = read(file);
      if (holder === undefined) continue;
      if (isHeld(holder)) return holder.processes[0];
      if (!removeStale()) return holder.processes[0];
    }
  }

  /** Two that find it stale must not remove what the other has made since: only who has the guard removes, and looks again before. */
  function removeStale() {
    const guard = `${file}.stale`;
    try {
      fs.mkdirSync(guard);
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
      const age = ageOf(guard);
      if (age !== undefined && age > WRITTEN_MS) tryRemove(() => fs.rmdirSync(guard));
      return false;
    }
    const holder = read(file);
    if (holder !== undefined && !isHeld(holder)) tryRemove(() => fs.unlinkSync(file));
    tryRemove(() => fs.rmdirSync(guard));
    return true;
  }

  /** npm belongs to it as well. */
  function addProcess(pid) {
    const next = `${file}.${process.pid}`;
    const holder = mine();
    holder.processes.push(identityOf(pid));
    fs.writeFileSync(next, JSON.stringify(holder));
    fs.renameSync(next, file);
  }

  function touch() {
    const now = new Date();
    tryRemove(() => fs.utimesSync(file, now, now));
  }

  function release() {
    clearInterval(touching);
    const holder = read(file);
    if (holder !== undefined && holder.host === os.hostname() && holder.processes.some(({ pid }) => pid === process.pid))
      tryRemove(() => fs.unlinkSync(file));
  }

  return { file, take, addProcess, release };
}

/** Undefined: there is none. */
function read(file) {
  const age = ageOf(file);
  if (age === undefined) return undefined;
  try {
    const { host, processes } = JSON.parse(fs.readFileSync(file, "utf8"));
    return { host, processes, age };
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    if (!(error instanceof SyntaxError) && !(error instanceof TypeError)) throw error;
    return { host: undefined, processes: [], age };
  }
}

function isHeld({ host, processes, age }) {
  if (host === undefined) return age < WRITTEN_MS;
  if (host !== os.hostname()) return age < GONE_MS;
  return processes.some(isAlive);
}

/** A number alone is given to another process one day; the time of its start tells them apart, where the system says it. */
function identityOf(pid) {
  return { pid, started: startOf(pid) };
}

function isAlive({ pid, started }) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code === "ESRCH") return false;
  }
  return started === undefined || startOf(pid) === started;
}

function startOf(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // A process that ended and was not asked for its code is no process.
    return fields[0] === "Z" ? "ended" : fields[19];
  } catch {
    // No such file system (macOS, Windows), or no such process: the number has to do.
    return undefined;
  }
}

function ageOf(file) {
  try {
    return Date.now() - fs.statSync(file).mtimeMs;
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Somebody was faster. */
function tryRemove(remove) {
  try {
    remove();
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
}

module.exports = { createInstallLock };
