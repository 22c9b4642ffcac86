// `npm test` runs what needs only Node and ends within minutes; `npm run test:stories` the stories, in which clusters are made, changed and upgraded from their
// first to their last step, and which take several times as long. `npm test -- <file>...` runs those files, each in a process of its own.
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** Loading the sources costs a process up to half a second: a process for each file would spend a third of all time on that. */
const PROCESSES = 24;

/**
 * Node leaves a core idle by default, which on two cores means one process after another; and some files wait for sockets more than they compute.
 * Gate and night, which share a machine with others, compute two things at once at most.
 */
const AT_ONCE = process.env.CI ? 2 : availableParallelism() + 1;

const STORIES = "packages/testkit/src/stories/";

const given = process.argv.slice(2);
const wantsStories = given[0] === "--stories";
const asked = wantsStories ? given.slice(1) : given;
const files = asked.length > 0 ? asked : found().toSorted();
if (files.length === 0) {
  process.stderr.write("No test file found.\n");
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), "talos-operator-tests-"));

function found() {
  if (wantsStories) return globSync(`${STORIES}**/*.test.ts`);
  return globSync("{packages/*/{src,scripts},scripts,test}/**/*.test.{ts,mjs}").filter((file) => !file.startsWith(STORIES));
}

/** Deals the files out: what is slow stands side by side in a folder, so neighbours go to different processes. */
function dealt(all) {
  return Array.from({ length: Math.min(PROCESSES, all.length) }, (_, index) => {
    const path = join(folder, `${String(index).padStart(2, "0")}.mjs`);
    const mine = all.filter((_file, position) => position % PROCESSES === index);
    writeFileSync(path, mine.map((file) => `import ${JSON.stringify(pathToFileURL(resolve(file)).href)};\n`).join(""));
    return path;
  });
}

const result = spawnSync(
  process.execPath,
  [
    "--test",
    `--import=${new URL("untracked-promises.mjs", import.meta.url)}`,
    `--import=${new URL("property-seed.mjs", import.meta.url)}`,
    `--test-concurrency=${AT_ONCE}`,
    `--test-reporter=${process.env.TEST_REPORTER ?? "spec"}`,
    "--test-reporter-destination=stdout",
    ...(asked.length > 0 ? asked : dealt(files)),
  ],
  {
    stdio: "inherit",
    // They load the same sources: stripping types once is enough.
    env: { NODE_COMPILE_CACHE: join("node_modules", ".cache", "compiled"), ...process.env },
  },
);
rmSync(folder, { recursive: true });
process.exit(result.status ?? 1);
