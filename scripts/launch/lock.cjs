// One installation at a time in one clone. The lock is a file with a line for each process that installs: the launcher, and npm, which goes on when the launcher is killed.
// It is free when they are gone; nobody has to remove it by hand after a crash.
"use strict";
const fs = require("fs");

/** Two that find it free at once both write it: who stands in it after this long has it. */
const SETTLED_MS = 100;
const WAIT_MS = 200;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves when the lock is ours. `onWait` hears whose it is, now and again. */
async function takeLock(file, onWait) {
  const mine = identityOf(process.pid);
  for (let tries = 0; ; tries += 1) {
    const holder = read(file).find((identity) => identityOf(Number(identity.split(" ")[0])) === identity);
    if (holder === mine) break;
    if (holder === undefined) fs.writeFileSync(file, `${mine}\n`);
    else if (tries % 50 === 0) onWait(holder.split(" ")[0]);
    await sleep(holder === undefined ? SETTLED_MS : WAIT_MS);
  }
  return { addProcess: (pid) => fs.appendFileSync(file, `${identityOf(pid)}\n`), release: () => fs.unlinkSync(file) };
}

function read(file) {
  try {
    return fs.readFileSync(file, "utf8").split("\n").slice(0, -1);
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw error;
  }
}

/** A number alone is given to another process one day; the time of its start tells them apart, where the system says it. Undefined: there is no such process. */
function identityOf(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code !== "EPERM") return undefined;
  }
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // A process that ended and was not asked for its code is no process.
    return fields[0] === "Z" ? undefined : `${pid} ${fields[19]}`;
  } catch {
    // macOS, Windows: the number has to do.
    return `${pid}`;
  }
}

module.exports = { takeLock };
