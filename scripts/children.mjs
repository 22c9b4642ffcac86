// Programs that a script starts and never leaves behind: each has a process group of its own, which ends with the script at the latest.
// Plain JavaScript for Node 20: the gate uses it before anything is installed.
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

const children = new Set();
process.on("exit", () => signalAll("SIGKILL"));

/** As `spawn`, in a process group of its own. */
export function start(program, args, options) {
  const child = spawn(program, args, { ...options, detached: true });
  if (child.pid !== undefined) children.add(child);
  child.on("close", () => {
    if (!signalGroup(child.pid, 0)) children.delete(child);
  });
  return child;
}

/** Whether a process of the group was there. */
export function signalGroup(group, signal) {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    if (error.code === "ESRCH") return false;
    throw error;
  }
}

/**
 * From now on a signal to this process ends what it started, then the process itself.
 *
 * @param graceMs until what does not end is killed; a script that starts such a script gives it longer than it gives
 */
export function endAtSignals(graceMs) {
  let isEnding = false;
  const codes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
  const end = async (signal) => {
    // Whoever waits for one of them would begin the next, or judge what was interrupted.
    for (const child of children) child.removeAllListeners("close");
    signalAll("SIGTERM");
    const latest = Date.now() + graceMs;
    while ([...children].some(({ pid }) => signalGroup(pid, 0)) && Date.now() < latest) await sleep(50);
    process.stderr.write(`\ninterrupted by ${signal}\n`);
    process.exit(codes[signal]);
  };
  for (const signal of Object.keys(codes))
    process.on(signal, () => {
      if (!isEnding) void end(signal);
      isEnding = true;
    });
}

function signalAll(signal) {
  for (const { pid } of children) signalGroup(pid, signal);
}
