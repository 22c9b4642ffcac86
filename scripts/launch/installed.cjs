// What is installed, beside what package-lock.json asks for. npm writes node_modules/.package-lock.json as the last step of an installation, so it names what is there
// as a whole, whoever installed it. Reads and writes nothing else: a clone may be read-only.
"use strict";
const fs = require("fs");
const path = require("path");

/** Node from npm is a project of its own: nothing that changes the dependencies of the clone touches the Node that runs. */
const nodeFolder = path.join(__dirname, "node");
const nodeKey = `node_modules/node-${process.platform}-${process.arch}`;
const bundledNode = path.join(nodeFolder, nodeKey, "bin", "node");
/** Type stripping without a flag, node:sqlite, and the TLS behaviour that the gRPC library needs. */
const isNodeNew = Number(process.versions.node.split(".")[0]) >= 24;

const recordOf = (folder) => path.join(folder, "node_modules", ".package-lock.json");
const packagesOf = (file) => JSON.parse(fs.readFileSync(file, "utf8")).packages || {};

/**
 * The packages that are `wanted` in a folder, by its lock and on this platform, which of them are `missing`, and whether the others are as they should be (`isSound`).
 * Those of development count when they are asked for, or when some are there already: a command takes nothing away from another.
 */
function inspect(folder, isForRunning) {
  const lock = packagesOf(path.join(folder, "package-lock.json"));
  const record = recordIn(folder);
  const there = record || {};
  const withDevelopment = !isForRunning || Object.keys(there).some((key) => there[key].dev === true);
  const keys = Object.keys(lock).filter((key) => /(^|\/)node_modules\//.test(key) && (withDevelopment || lock[key].dev !== true));
  const wanted = keys.filter((key) => lock[key].link !== true && isForHere(lock[key]));
  const isAsLocked = (key) =>
    there[key].version === lock[key].version && there[key].integrity === lock[key].integrity && fs.existsSync(path.join(folder, key));
  const missing = wanted.filter((key) => there[key] === undefined);
  const isSound = record !== undefined && keys.every((key) => (there[key] === undefined ? lock[key].link !== true : isAsLocked(key)));
  // npm goes on without optional packages that its registry does not carry.
  const isComplete = missing.every((key) => lock[key].optional === true && key !== nodeKey);
  return { wanted, missing, isSound, isInstalled: isSound && isComplete, withDevelopment };
}

/** Undefined: not there, or not whole; written when the disk was full, for example. */
function recordIn(folder) {
  try {
    return packagesOf(recordOf(folder));
  } catch (error) {
    if (error.code !== "ENOENT" && !(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

function isForHere({ os = process.platform, cpu = process.arch, libc }) {
  if (!os.includes(process.platform) || !cpu.includes(process.arch)) return false;
  if (libc === undefined || process.platform !== "linux" || process.report === undefined) return true;
  return libc.includes(process.report.getReport().header.glibcVersionRuntime === undefined ? "musl" : "glibc");
}

module.exports = { inspect, recordOf, nodeFolder, bundledNode, isNodeNew };
