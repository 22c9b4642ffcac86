// Every npm script begins here: installs what is missing, then runs its arguments with Node 24 or newer, as `node ARGUMENTS` would. Without arguments it only installs.
// `--for running` before them: the command needs no linters, compilers, generators and test libraries.
// `.npmrc` switches lifecycle scripts off, so there is no `prestart` to do it. Syntax and calls of old Node, 10 and newer: it runs before Node 24 is there.
"use strict";
const path = require("path");
const { pathToFileURL } = require("url");
const { spawn } = require("child_process");
const { ensureInstalled } = require("./install.cjs");
const { bundledNode, isNodeNew } = require("./installed.cjs");

const root = path.join(__dirname, "..", "..");

main(process.argv.slice(2)).catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});

async function main(words) {
  const isForRunning = words[0] === "--for" && words[1] === "running";
  const args = words.slice(isForRunning ? 2 : 0);
  await ensureInstalled(root, isForRunning);
  if (args.length === 0) return;
  const script = args.findIndex((word) => !word.startsWith("-"));
  if (script >= 0) args[script] = path.join(root, args[script]);
  if (!isNodeNew) runThere(bundledNode, script === 0 ? [__filename, ...words] : args);
  else if (script === 0) runHere(args);
  else runThere(process.execPath, args);
}

function runHere(args) {
  const { enableCompileCache } = require("module");
  // From the second time on a command loads in a third of the time. A folder that cannot be written is left alone.
  if (enableCompileCache !== undefined && process.env.NODE_COMPILE_CACHE === undefined)
    enableCompileCache(path.join(root, "node_modules", ".cache", "compiled"));
  process.argv.splice(1, process.argv.length - 1, ...args);
  import(pathToFileURL(args[0]).href).catch((error) => process.nextTick(rethrow, error));
}

/** Out of the promise: Node reports what a script throws as it does without us. */
function rethrow(error) {
  throw error;
}

/** In a second process; what it starts by the name `node` is the same Node. Hands signals, exit code and streams through. */
function runThere(node, args) {
  const env = Object.assign({}, process.env, { PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}` });
  const child = spawn(node, args, { stdio: "inherit", env });
  const last = {};
  const passOn = (signal) => {
    // npm passes on what the terminal sent to all of us already.
    const isSame = Date.now() - (last[signal] || 0) < 1000;
    last[signal] = Date.now();
    // A console of Windows tells everybody by itself, and kill would not ask.
    if (!isSame && process.platform !== "win32") child.kill(signal);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) process.on(signal, passOn);
  child.on("error", (error) => {
    process.stderr.write(`${node} cannot be started (${error.message}). Install Node 24 or newer, then run the command again.\n`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    // Ends as the command ended, so that npm and the shell see it.
    for (const name of signals) process.removeListener(name, passOn);
    process.kill(process.pid, signal);
  });
}
