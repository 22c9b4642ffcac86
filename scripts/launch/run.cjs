// Every npm script begins here: installs what is missing, then runs its arguments with the Node that comes with the installation, as `node ARGUMENTS` would.
// Without arguments it only installs.
// `.npmrc` switches lifecycle scripts off, so there is no `prestart` to do it. Syntax and calls of old Node, 10 and newer: it runs before Node 24 is there.
"use strict";
const fs = require("fs");
const path = require("path");
const { pathToFileURL } = require("url");
const { spawn } = require("child_process");
const { bundledNode } = require("./installed.cjs");
const { ensureInstalled } = require("./install.cjs");
const { InstallError } = require("./install-error.cjs");

const root = path.join(__dirname, "..", "..");
/** Type stripping without a flag, node:sqlite, and the TLS behaviour that the gRPC library needs. */
const NEEDED_MAJOR = 24;
const isNew = Number(process.versions.node.split(".")[0]) >= NEEDED_MAJOR;
/** npm passes on what the terminal sent to all of us already: two of a kind that close together are one. */
const SAME_SIGNAL_MS = 1000;

ensureInstalled({ root, needsBundledNode: !isNew })
  .then(() => run(process.argv.slice(2)))
  .catch((error) => {
    // Whatever it was, a person who only typed a command is served by a sentence.
    process.stderr.write(`${error instanceof InstallError ? "" : "error: "}${error.message}\n`);
    process.exitCode = 1;
  });

function run(words) {
  const args = words.slice();
  const position = args.findIndex((word) => !word.startsWith("-"));
  const node = chooseNode();
  if (position < 0) {
    if (args.length > 0) runThere(node, args);
    return;
  }
  args[position] = path.join(root, args[position]);
  // No second process where this one will do: that is every time but the first, for npm looks into node_modules/.bin first.
  if (node === process.execPath && position === 0) runHere(args);
  else runThere(node, args);
}

function chooseNode() {
  const bundled = bundledNode(root);
  if (bundled !== undefined) return fs.realpathSync(bundled);
  if (isNew) return process.execPath;
  throw new InstallError(
    `Node ${process.versions.node} is too old, and there is none from npm that runs here (${process.platform} ${process.arch}).\n` +
      `Install Node ${NEEDED_MAJOR} or newer, then run the command again.`,
  );
}

function runHere(args) {
  keepCompiled();
  process.argv.splice(1, process.argv.length - 1, ...args);
  import(pathToFileURL(args[0]).href).catch((error) => {
    // Out of the promise, so that Node reports it as it reports what a script throws.
    setImmediate(() => {
      throw error;
    });
  });
}

/** Types are stripped and code is compiled once: from the second time on a command loads in a third of the time. A folder that cannot be written is left alone. */
function keepCompiled() {
  const { enableCompileCache } = require("module");
  if (enableCompileCache !== undefined && process.env.NODE_COMPILE_CACHE === undefined)
    enableCompileCache(path.join(root, "node_modules", ".cache", "compiled"));
}

function runThere(node, args) {
  const child = spawn(node, args, { stdio: "inherit" });
  const passedOn = ["SIGINT", "SIGTERM", "SIGHUP"];
  const last = {};
  const passOn = (signal) => {
    const now = Date.now();
    const isSame = now - (last[signal] || 0) < SAME_SIGNAL_MS;
    last[signal] = now;
    // A console of Windows tells everybody by itself, and kill would not ask.
    if (!isSame && process.platform !== "win32") child.kill(signal);
  };
  for (const signal of passedOn) process.on(signal, passOn);
  child.on("error", (error) => {
    process.stderr.write(`${node} cannot be started: ${error.message}\nRemove node_modules, then run the command again.\n`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    // Ends as the command ended, so that npm and the shell see it.
    for (const name of passedOn) process.removeListener(name, passOn);
    process.kill(process.pid, signal);
  });
}
