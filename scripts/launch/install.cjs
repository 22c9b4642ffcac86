// Installs the dependencies of a clone, once, whoever asks and however often it was interrupted. Says what it does, and why when it fails.
"use strict";
const fs = require("fs");
const path = require("path");
const { spawn, spawnSync } = require("child_process");
const { bundledNode, countOfPackages, leftOut, recordOf, whyNotInstalled } = require("./installed.cjs");
const { createInstallLock } = require("./install-lock.cjs");
const { InstallError } = require("./install-error.cjs");
const { describeFailure } = require("./npm-failure.cjs");

const PROGRESS_MS = 5000;
/** Nothing new for this long: the registry may be silent, and npm waits for minutes. */
const SILENT_MS = 30000;
const WAIT_MS = 200;
const KILL_MS = 5000;
/** Versions of npm before it do not read our lock. */
const NEEDED_NPM = 7;

// What a caller asked of his script (`npm start --omit=dev`) or set for his own projects is no advice for the installation: it would come out another one.
const OPTIONS = [
  "--ignore-scripts",
  "--include=dev",
  "--include=optional",
  "--package-lock=true",
  "--bin-links=true",
  "--dry-run=false",
  "--global=false",
  "--engine-strict=false",
  "--legacy-peer-deps=false",
  "--strict-peer-deps=false",
  "--no-fund",
  "--no-audit",
  "--no-update-notifier",
  "--loglevel=error",
  "--progress=false",
  // Its own is a minute: without a network an answer comes after half a minute instead of two and a half.
  "--fetch-retry-maxtimeout=15000",
];
const NOT_OURS =
  /^npm_config_(omit|include|only|also|production|optional|workspaces?|include_workspace_root|location|prefix|package_lock_only|install_strategy|install_links|json|silent|quiet)$/i;

/** Resolves when everything is there, at once when it is already. */
async function ensureInstalled({ root, needsBundledNode }) {
  if (whyNotInstalled(root, needsBundledNode) === undefined) return;
  const lock = createInstallLock(root);
  await taken(lock, root);
  try {
    // Whoever had the lock before may have done it.
    if (whyNotInstalled(root, needsBundledNode) !== undefined) await install(root, lock, needsBundledNode);
  } finally {
    lock.release();
  }
}

async function taken(lock, root) {
  for (let waited = 0; ; waited += WAIT_MS) {
    let holder;
    try {
      holder = lock.take();
    } catch (error) {
      throw new InstallError(notWritable(root, error));
    }
    if (holder === undefined) return;
    if (waited % PROGRESS_MS === 0)
      say(
        `Another command${holder === undefined || holder.pid === undefined ? "" : ` (process ${holder.pid})`} installs the dependencies; waiting for it ...`,
      );
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
}

function notWritable(root, error) {
  const remedy = /^(ENOSPC|EDQUOT)$/.test(error.code)
    ? "Make room there, then run the command again."
    : "Run `npm ci` there once as somebody who may write, or clone the repository to a folder of your own.";
  return `Dependencies are not installed, and nothing can be written to ${root} (${error.code}).\n${remedy}`;
}

async function install(root, lock, needsBundledNode) {
  checkNpm();
  say("Installing dependencies (once; half a minute, longer on a slow network) ...");
  // npm removes what is there, piece by piece: interrupted at it, it must not look whole.
  try {
    fs.unlinkSync(recordOf(root));
  } catch (error) {
    if (error.code !== "ENOENT") throw new InstallError(notWritable(root, error));
  }
  const { printed, end, interruptedBy } = await npmCi(root, lock);
  if (interruptedBy !== undefined) {
    say("The installation was interrupted. The next command does it again.");
    lock.release();
    process.kill(process.pid, interruptedBy);
    // The signal arrives between two turns.
    await new Promise((resolve) => setTimeout(resolve, KILL_MS));
  }
  if (end !== "exit code 0") throw new InstallError(describeFailure(printed, end));
  removeNodeThatDoesNotRun(root);
  const why = whyNotInstalled(root, needsBundledNode);
  if (why !== undefined)
    throw new InstallError(
      `Dependencies could not be installed: npm took no fault, but ${why}.\nThe network may have broken, or the registry does not carry it. Run the command again, or install Node 24 or newer.`,
    );
  const missing = leftOut(root);
  if (missing.length > 0)
    say(`npm left out ${missing.map((key) => key.replace(/^node_modules\//, "")).join(", ")}: what needs them fails. To try again: npm ci`);
}

function checkNpm() {
  const [, major] = /^npm\/(\d+)\./.exec(process.env.npm_config_user_agent || "") || [];
  if (major !== undefined && Number(major) < NEEDED_NPM)
    throw new InstallError(
      `npm ${major} is too old for package-lock.json. Install Node 24 or newer, which brings its own, then run the command again.`,
    );
}

/** Beside us and not inside, so that progress is said and signals are heard meanwhile. */
function npmCi(root, lock) {
  const [command, ...first] = npmCommand();
  const env = {};
  for (const name of Object.keys(process.env)) if (!NOT_OURS.test(name)) env[name] = process.env[name];
  return new Promise((resolve, reject) => {
    const npm = spawn(command, [...first, "ci", ...OPTIONS], {
      cwd: root,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      shell: command.endsWith(".cmd"),
    });
    const begun = Date.now();
    let printed = "";
    let interruptedBy;
    let count = 0;
    let countedAt = begun;
    const progress = setInterval(() => {
      const now = countOfPackages(root);
      if (now !== count) countedAt = Date.now();
      count = now;
      const isSilent = Date.now() - countedAt > SILENT_MS;
      say(
        `... ${Math.round((Date.now() - begun) / 1000)} s, ${count} packages${isSilent ? "; npm waits for its registry, Ctrl-C ends it" : ""}`,
      );
    }, PROGRESS_MS);
    const stop = (signal) => {
      if (interruptedBy !== undefined) return;
      interruptedBy = signal;
      npm.kill("SIGTERM");
      setTimeout(() => npm.kill("SIGKILL"), KILL_MS).unref();
    };
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
    for (const signal of signals) process.on(signal, stop);
    const done = () => {
      clearInterval(progress);
      for (const signal of signals) process.removeListener(signal, stop);
    };
    // Both streams: npm says some things on one and some on the other.
    for (const stream of [npm.stdout, npm.stderr]) stream.on("data", (chunk) => (printed = (printed + chunk).slice(-65536)));
    npm.on("error", (error) => {
      done();
      reject(new InstallError(`npm cannot be started (${error.message}). Install npm, then run the command again.`));
    });
    npm.on("close", (code, signal) => {
      done();
      resolve({ printed, end: signal === null ? `exit code ${code}` : `signal ${signal}`, interruptedBy });
    });
    if (npm.pid !== undefined) lock.addProcess(npm.pid);
  });
}

/** The npm that runs this script, by the Node that runs it; other package managers set the same variables. */
function npmCommand() {
  const npm = process.env.npm_execpath;
  if (npm !== undefined && /^np[mx]-cli\.[cm]?js$/.test(path.basename(npm)) && fs.existsSync(npm)) {
    const node = process.env.npm_node_execpath;
    return [node !== undefined && fs.existsSync(node) ? node : process.execPath, npm.replace(/npx-cli(\.[cm]?js)$/, "npm-cli$1")];
  }
  return [process.platform === "win32" ? "npm.cmd" : "npm"];
}

/** On a system with another or an older libc. It stands first in npm's search path, where it would hide the one that runs. */
function removeNodeThatDoesNotRun(root) {
  const bundled = bundledNode(root);
  if (bundled === undefined || spawnSync(bundled, ["--version"], { stdio: "ignore" }).status === 0) return;
  for (const file of [bundled, path.join(root, "node_modules", ".bin", "node")]) if (fs.existsSync(path.dirname(file))) tryUnlink(file);
}

function tryUnlink(file) {
  try {
    fs.unlinkSync(file);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
}

function say(line) {
  process.stderr.write(`${line}\n`);
}

module.exports = { ensureInstalled };
