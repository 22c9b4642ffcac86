// Which tests reach which changed files: by the imports between them. `npm run check` and the gate choose by it.
import { spawnSync } from "node:child_process";
import { globSync, realpathSync } from "node:fs";
import { relative, resolve } from "node:path";
import { build } from "esbuild";

const root = realpathSync(resolve(import.meta.dirname, ".."));

/** Lines that git prints, or undefined when it fails. */
export function git(...args) {
  const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
  return status === 0 ? stdout.split("\n").filter((line) => line !== "") : undefined;
}

/** Files that differ from a commit, as they are in the working tree: those that it has not any more too, since their package changed with them. */
export function changedSince(commit) {
  // Without -z git writes names that are not plain ASCII in its own way.
  const names = (...args) =>
    git(...args, "-z")
      ?.flatMap((line) => line.split("\0"))
      .filter((name) => name !== "");
  const differ = names("diff", "--name-only", "--no-renames", commit);
  if (differ === undefined) throw new Error(`git cannot tell what differs from ${commit}`);
  return new Set([...differ, ...(names("ls-files", "--others", "--exclude-standard") ?? [])]);
}

/** Every test that needs only Node, stories included. */
export function allTests() {
  return globSync("{packages/*/{src,scripts},scripts,test}/**/*.test.{ts,mjs}", { cwd: root })
    .map((file) => file.replaceAll("\\", "/"))
    .toSorted();
}

/**
 * Tests that import a changed file, directly or not, nearest first, each with the number of imports between them.
 *
 * @param tests paths from the root of the repository
 */
export async function testsThatReach(tests, changed) {
  const { metafile } = await build({
    // One bundle of all: only its list of imports is read.
    stdin: { contents: tests.map((file) => `import ${JSON.stringify(`./${file}`)};`).join("\n"), resolveDir: root },
    absWorkingDir: root,
    bundle: true,
    treeShaking: false,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    logLevel: "error",
    plugins: [{ name: "own-packages-only", setup: (one) => one.onResolve({ filter: /^[^./]/ }, ownPackagesOnly) }],
  });
  const inputs = new Map(Object.entries(metafile.inputs).map(([file, { imports }]) => [file, imports.map(({ path }) => path)]));
  return tests
    .map((file) => ({ file, distance: distanceOf(file, inputs, changed) }))
    .filter(({ distance }) => distance !== undefined)
    .toSorted((a, b) => a.distance - b.distance || (a.file < b.file ? -1 : 1));
}

/** Packages from npm do not change here. */
function ownPackagesOnly({ path, kind }) {
  if (kind === "entry-point" || path.startsWith("@talos-operator/")) return undefined;
  return { path, external: true };
}

function distanceOf(file, inputs, changed) {
  const seen = new Set([file]);
  for (let distance = 0, layer = [file]; layer.length > 0; distance += 1) {
    if (layer.some((one) => changed.has(relative(root, resolve(root, one))))) return distance;
    layer = layer.flatMap((one) => inputs.get(one) ?? []).filter((one) => !seen.has(one) && seen.add(one));
  }
  return undefined;
}
