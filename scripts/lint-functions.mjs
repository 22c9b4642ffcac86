// Holds functions of the operator to 70 lines and those of every other package to 100, without blank lines and comments; tests and generated files may be longer.
// Functions that were longer when this began stand in long-functions.json with the length they may have: none may be added, none may grow, and one that became
// shorter is taken down with --write. The list may only shrink.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";

const list = new URL("long-functions.json", import.meta.url);
const config = new URL("oxlint-functions.json", import.meta.url);

const files = globSync("packages/*/src/**/*.ts").filter((file) => !/\.(real-)?test\.ts$|[\\/]gen[\\/]/.test(file));
const { stdout, status, stderr } = spawnSync(
  process.execPath,
  ["node_modules/oxlint/bin/oxlint", "--config", config.pathname, "--format=json", ...files],
  { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
);
if (status === null || stdout === "") throw new Error(`oxlint did not answer: ${stderr}`);

/** Lengths by place: functions without a name, and several of one name, are told apart by their order in the file. */
const found = {};
const mostAt = {};
const place = (file, name) => {
  const key = `${file.replaceAll("\\", "/")} ${name}`;
  return key in found ? place(file, `${name}'`) : key;
};
for (const { filename, message } of JSON.parse(stdout).diagnostics) {
  const [, name = "(unnamed)", lines, most] =
    /function (?:`([^`]+)` )?has too many lines \((\d+)\)\. Maximum allowed is (\d+)/.exec(message) ?? [];
  if (lines === undefined) throw new Error(`not understood: ${message}`);
  const key = place(filename, name);
  found[key] = Number(lines);
  mostAt[key] = most;
}

const allowed = JSON.parse(readFileSync(list, "utf8"));
const failures = [];
for (const [key, lines] of Object.entries(found)) {
  if (allowed[key] === undefined) failures.push(`${key}: ${lines} lines, ${mostAt[key]} is the most; give a part of it a name of its own`);
  else if (lines > allowed[key])
    failures.push(`${key}: ${lines} lines, and it had ${allowed[key]}; functions on the list may only become shorter`);
}
if (process.argv.includes("--write") && failures.length === 0) {
  writeFileSync(list, `${JSON.stringify(found, Object.keys(found).toSorted(), 2)}\n`);
} else
  for (const [key, lines] of Object.entries(allowed))
    if ((found[key] ?? 0) < lines)
      failures.push(`${key}: shorter than the list says (${lines}); run: node scripts/lint-functions.mjs --write`);
for (const failure of failures) process.stdout.write(`${failure}\n`);
if (failures.length > 0) process.exit(1);
