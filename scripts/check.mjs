// What to run after a change, in three minutes at most: types, every linter, and the tests that reach what changed, nearest first.
// Changed is what differs from origin/main, or from the ref that is named: npm run check -- HEAD~3
import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { allTests, changedSince, git, testsThatReach } from "./reach.mjs";

/** Tests are started for so long: lint and types have the rest. */
const TESTS_MS = 75_000;

/** Test files that are started together. */
const AT_ONCE = 12;

process.chdir(resolve(import.meta.dirname, ".."));

function run(what, ...command) {
  const { status } = spawnSync(process.execPath, command, { stdio: "inherit" });
  if (status === 0) return;
  process.stderr.write(`error: ${what} failed\n`);
  process.exit(status ?? 1);
}

const [ref] = process.argv.slice(2);
const found = git("merge-base", "HEAD", ref ?? "origin/main")?.[0];
if (ref !== undefined && found === undefined) {
  process.stderr.write(`error: git finds no commit that HEAD and ${ref} share. npm run check -- [REF]; without one it is origin/main.\n`);
  process.exit(1);
}
const base = found ?? "HEAD";
const changed = changedSince(base);
if (changed.size === 0) process.stdout.write("Nothing differs: only types and linters run.\n");
run("typecheck", "node_modules/typescript/bin/tsc", "--noEmit", "-p", "tsconfig.json");
run("lint", "scripts/lint.mjs");
const tests = changed.size === 0 ? [] : (await testsThatReach(allTests(), changed)).map(({ file }) => file);
const began = Date.now();
let played = 0;
while (played < tests.length && Date.now() - began < TESTS_MS) {
  const next = tests.slice(played, played + AT_ONCE);
  process.stdout.write(`tests ${played + 1} to ${played + next.length} of ${tests.length} that reach what changed\n`);
  run("a test", "--test", `--test-concurrency=${availableParallelism()}`, "--test-reporter=dot", ...next);
  played += next.length;
}
if (played < tests.length)
  process.stdout.write(
    `${tests.length - played} test files further away were not run in time: npm test and npm run test:stories run all.\n`,
  );
