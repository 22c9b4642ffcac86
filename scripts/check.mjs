// What to play after a change, in three minutes at most: types, every linter, and the tests that reach what changed, nearest first.
// Changed is what differs from origin/main, or from the ref that is named: npm run check -- HEAD~3
import { spawnSync } from "node:child_process";
import { existsSync, globSync, realpathSync } from "node:fs";
import { availableParallelism } from "node:os";
import { relative, resolve } from "node:path";
import { build } from "esbuild";

/** Tests are begun for so long: lint and types have the rest. */
const TESTS_MS = 75_000;

/** Test files that are begun together. */
const AT_ONCE = 12;

const root = realpathSync(resolve(import.meta.dirname, ".."));
process.chdir(root);

function run(what, ...command) {
  const { status } = spawnSync(process.execPath, command, { stdio: "inherit" });
  if (status === 0) return;
  process.stderr.write(`error: ${what} failed\n`);
  process.exit(status ?? 1);
}

function git(...args) {
  const { status, stdout } = spawnSync("git", args, { encoding: "utf8" });
  return status === 0 ? stdout.split("\n").filter((line) => line !== "") : undefined;
}

/** Files that differ from where the branch began, as they are in the working tree. */
function changedFiles() {
  const [ref = "origin/main"] = process.argv.slice(2);
  const [base = "HEAD"] = git("merge-base", "HEAD", ref) ?? [];
  const files = [...(git("diff", "--name-only", base) ?? []), ...(git("ls-files", "--others", "--exclude-standard") ?? [])];
  return new Set(files.filter((file) => existsSync(file)));
}

/** Every test with how many imports lie between it and the nearest file that changed. */
async function testsThatReach(changed) {
  const entryPoints = globSync("{packages/*/{src,scripts},scripts,test}/**/*.test.{ts,mjs}");
  const { metafile } = await build({
    entryPoints,
    bundle: true,
    write: false,
    outdir: "unwritten",
    metafile: true,
    format: "esm",
    platform: "node",
    logLevel: "error",
    plugins: [{ name: "ours-alone", setup: (one) => one.onResolve({ filter: /^[^./]/ }, oursAlone) }],
  });
  const inputs = new Map(Object.entries(metafile.inputs).map(([file, { imports }]) => [file, imports.map(({ path }) => path)]));
  return entryPoints
    .map((file) => ({ file, far: distance(file, inputs, changed) }))
    .filter(({ far }) => far !== undefined)
    .toSorted((a, b) => a.far - b.far || (a.file < b.file ? -1 : 1))
    .map(({ file }) => file);
}

/** Packages of others are nothing that changes here. */
function oursAlone({ path, kind }) {
  if (kind === "entry-point" || path.startsWith("@talos-operator/")) return undefined;
  return { path, external: true };
}

function distance(file, inputs, changed) {
  const seen = new Set([file]);
  for (let far = 0, layer = [file]; layer.length > 0; far += 1) {
    if (layer.some((one) => changed.has(relative(root, resolve(one))))) return far;
    layer = layer.flatMap((one) => inputs.get(one) ?? []).filter((one) => !seen.has(one) && seen.add(one));
  }
  return undefined;
}

const changed = changedFiles();
if (changed.size === 0) process.stdout.write("Nothing differs: only types and linters are played.\n");
run("typecheck", "node_modules/typescript/bin/tsc", "--noEmit", "-p", "tsconfig.json");
run("lint", "scripts/lint.mjs");
const tests = changed.size === 0 ? [] : await testsThatReach(changed);
const began = Date.now();
let played = 0;
while (played < tests.length && Date.now() - began < TESTS_MS) {
  const next = tests.slice(played, played + AT_ONCE);
  process.stdout.write(`tests ${played + 1} to ${played + next.length} of ${tests.length} that reach what changed\n`);
  run("a test", "--test", `--test-concurrency=${availableParallelism() + 1}`, "--test-reporter=dot", ...next);
  played += next.length;
}
if (played < tests.length)
  process.stdout.write(
    `${tests.length - played} test files further away were not played in time: npm test and npm run test:stories play all.\n`,
  );
