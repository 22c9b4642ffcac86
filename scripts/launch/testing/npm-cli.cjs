// Stands for npm in the tests of the launcher: leaves what npm leaves, once it may. What it shall do stands in FAKE_NPM.
"use strict";
const fs = require("fs");
const path = require("path");

const { failWith, leaveOut = [], waitsFor, ignoresSignals = false } = JSON.parse(process.env.FAKE_NPM || "{}");
fs.appendFileSync("npm-calls.txt", `${process.pid} ${JSON.stringify(process.argv.slice(2))} omit=${process.env.npm_config_omit || ""}\n`);
if (ignoresSignals) for (const name of ["SIGINT", "SIGTERM"]) process.on(name, () => {});
const words = process.argv.slice(2);
if (words[0] === "ci") fs.rmSync("node_modules", { recursive: true, force: true });
const waiting = setInterval(() => {
  if (waitsFor !== undefined && !fs.existsSync(waitsFor)) return;
  clearInterval(waiting);
  if (failWith !== undefined) {
    process.stderr.write(failWith);
    process.exit(1);
  }
  const { packages } = JSON.parse(fs.readFileSync("package-lock.json", "utf8"));
  const there = {};
  for (const key of Object.keys(packages)) {
    if (key === "" || leaveOut.includes(key) || (packages[key].dev && words.includes("--omit=dev"))) continue;
    fs.mkdirSync(key, { recursive: true });
    if (!fs.existsSync(path.join(key, "package.json"))) fs.writeFileSync(path.join(key, "package.json"), "{}");
    there[key] = packages[key];
  }
  fs.writeFileSync("node_modules/.package-lock.json", JSON.stringify({ packages: there }));
}, 20);
