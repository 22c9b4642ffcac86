// Installs what a command needs in a clone, once, whoever asks and however often it was interrupted. Says what it does, and how far it is.
"use strict";
const fs = require("fs");
const path = require("path");
const { inspect, isNodeNew, nodeFolder, recordOf } = require("./installed.cjs");
const { takeLock } = require("./lock.cjs");
const { describeFailure, startNpm } = require("./npm.cjs");

const SAY_MS = 2000;
const say = (line) => process.stderr.write(`${line}\n`);

/** Resolves when everything is there, at once when it is already. */
async function ensureInstalled(root, isForRunning) {
  const projects = [{ folder: root, isForRunning }];
  if (!isNodeNew) projects.push({ folder: nodeFolder, isForRunning: true });
  const isInstalled = (project) => inspect(project.folder, project.isForRunning).isInstalled;
  if (projects.every(isInstalled)) return;
  const lock = await waitForLock(root);
  try {
    // Whoever had the lock before may have done it.
    for (const project of projects) if (!isInstalled(project)) await install(project, lock);
  } finally {
    lock.release();
  }
}

async function waitForLock(root) {
  try {
    const onWait = (pid) => say(`Another command (process ${pid}) installs packages; waiting for it ...`);
    return await takeLock(path.join(root, ".install-lock"), onWait);
  } catch (error) {
    const message = `Packages are missing, and ${root} cannot be written to (${error.code}). Make it writable, then run the command again.`;
    throw new Error(message, { cause: error });
  }
}

async function install({ folder, isForRunning }, lock) {
  const { wanted, missing, isSound, withDevelopment } = inspect(folder, isForRunning);
  const keys = isSound ? missing : wanted;
  const have = `Node ${process.versions.node.split(".")[0]}`;
  if (folder !== nodeFolder)
    say(`${isSound ? "Adding" : "Installing"} ${keys.length} packages that ${withDevelopment ? "development" : "running"} needs ...`);
  else if (wanted.length > 0) say(`Installing Node 24 from npm (190 MB, 50 to download), since this machine has ${have} ...`);
  else throw new Error(`${have} is too old, and npm has none for this platform. Install Node 24 or newer, then run the command again.`);

  const record = recordOf(folder);
  if (isSound) {
    // Parts of what an interrupted addition began: npm leaves alone what its record names, if no folder is unknown to it or newer. A demo may run from them.
    for (const key of missing) (fs.rmSync || fs.rmdirSync)(path.join(folder, key), { recursive: true, force: true });
    fs.utimesSync(record, new Date(), new Date());
  } else if (fs.existsSync(record)) {
    // `npm ci` removes what is there, piece by piece: interrupted at it, it must not look whole.
    fs.unlinkSync(record);
  }
  const words = [...(isSound ? ["install", "--no-save"] : ["ci"]), withDevelopment ? "--include=dev" : "--omit=dev"];
  const { printed, end } = await npmEnds(folder, keys, lock, words);
  if (end !== "exit code 0") throw new Error(describeFailure(printed, end));
  if (!inspect(folder, isForRunning).isInstalled)
    throw new Error("npm did not install all of package-lock.json. Check that `npm ping` works, then run the command again.");
}

/** npm runs beside us, so that progress is said and signals are heard meanwhile. */
function npmEnds(folder, keys, lock, words) {
  const npm = startNpm(folder, words);
  if (npm.pid !== undefined) lock.addProcess(npm.pid);
  let printed = "";
  // Both streams: npm says some things on one and some on the other.
  for (const stream of [npm.stdout, npm.stderr]) stream.on("data", (chunk) => (printed = (printed + chunk).slice(-65536)));
  const progress = setInterval(createProgress(folder, keys), SAY_MS);
  let interruptedBy;
  const stop = (signal) => {
    interruptedBy = signal;
    // Asked by a signal that it hears, npm downloads and unpacks all the same, and then takes it away again. What it leaves undone the next command sees.
    npm.kill("SIGKILL");
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, stop);
  return new Promise((resolve, reject) => {
    npm.on("error", (error) => reject(new Error(`npm cannot be started (${error.message}). Install npm, then run the command again.`)));
    npm.on("close", (code, signal) => {
      clearInterval(progress);
      for (const name of signals) process.removeListener(name, stop);
      if (interruptedBy === undefined) return resolve({ printed, end: signal === null ? `exit code ${code}` : `signal ${signal}` });
      say("The installation was interrupted. The next command completes it.");
      lock.release();
      process.kill(process.pid, interruptedBy);
    });
  });
}

function createProgress(folder, keys) {
  const sizes = {};
  const isWhole = {};
  return () => {
    for (const key of keys.filter((one) => !isWhole[one])) {
      const size = sizeOf(path.join(folder, key));
      isWhole[key] = size > 0 && size === sizes[key];
      sizes[key] = size;
    }
    const bytes = keys.reduce((sum, key) => sum + sizes[key], 0);
    say(`... packages ${keys.filter((key) => isWhole[key]).length} of ${keys.length}, ${Math.round(bytes / 1e6)} MB so far`);
  };
}

function sizeOf(folder) {
  try {
    return fs.readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
      const place = path.join(folder, entry.name);
      if (entry.isDirectory()) return entry.name === "node_modules" ? sum : sum + sizeOf(place);
      return sum + fs.lstatSync(place).size;
    }, 0);
  } catch {
    // Not there yet, or moved by npm meanwhile.
    return 0;
  }
}

module.exports = { ensureInstalled };
