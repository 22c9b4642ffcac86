// Whether what is installed is what package-lock.json asks for. npm writes node_modules/.package-lock.json as the last step of an installation, so it is there
// after a whole one only, whether we or somebody else ran it. Reads and writes nothing else: a clone may be read-only.
"use strict";
const fs = require("fs");
const path = require("path");

const recordOf = (root) => path.join(root, "node_modules", ".package-lock.json");

/** Why there is something to install, or undefined. */
function whyNotInstalled(root, needsBundledNode) {
  const wanted = packagesOf(path.join(root, "package-lock.json"));
  let there;
  try {
    there = packagesOf(recordOf(root));
  } catch (error) {
    // Not there, or not whole: written when the disk was full, for example.
    if (error.code !== "ENOENT" && !(error instanceof SyntaxError)) throw error;
    return "nothing whole is installed";
  }
  for (const key of Object.keys(wanted)) {
    if (!/(^|\/)node_modules\//.test(key)) continue;
    const entry = wanted[key];
    const found = there[key];
    if (found === undefined) {
      // Of another platform, or one that the registry does not carry.
      if (entry.optional === true && !(needsBundledNode && key === bundledKey())) continue;
      return `${key} is missing`;
    }
    if (found.version !== entry.version) return `${key} has another version`;
    if (found.integrity !== undefined && entry.integrity !== undefined && found.integrity !== entry.integrity)
      return `${key} is another one`;
    if (!fs.existsSync(path.join(root, key))) return `${key} was removed`;
  }
  return undefined;
}

/** Packages that are made for this platform, and were left out: npm does not take their failure for one. */
function leftOut(root) {
  const wanted = packagesOf(path.join(root, "package-lock.json"));
  return Object.keys(wanted).filter((key) => {
    const { optional, os, cpu, libc } = wanted[key];
    if (optional !== true || os === undefined || cpu === undefined) return false;
    if (!os.includes(process.platform) || !cpu.includes(process.arch) || (libc !== undefined && !libc.includes(libcHere()))) return false;
    return !fs.existsSync(path.join(root, key));
  });
}

/** Node from npm, where there is one for this platform. */
function bundledNode(root) {
  const file = path.join(root, bundledKey(), "bin", "node");
  return fs.existsSync(file) ? file : undefined;
}

function bundledKey() {
  return `node_modules/node-${process.platform}-${process.arch}`;
}

function libcHere() {
  if (process.platform !== "linux" || process.report === undefined) return undefined;
  return process.report.getReport().header.glibcVersionRuntime === undefined ? "musl" : "glibc";
}

function packagesOf(file) {
  return JSON.parse(fs.readFileSync(file, "utf8")).packages || {};
}

/** How many packages lie there already: a sign of life. */
function countOfPackages(root) {
  const wanted = packagesOf(path.join(root, "package-lock.json"));
  return Object.keys(wanted).filter(
    (key) => key.includes("node_modules/") && wanted[key].link !== true && fs.existsSync(path.join(root, key, "package.json")),
  ).length;
}

module.exports = { whyNotInstalled, leftOut, bundledNode, countOfPackages, recordOf };
