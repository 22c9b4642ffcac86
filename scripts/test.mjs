// Runs every test that needs only Node. `npm test -- <file>...` runs those files.
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

const asked = process.argv.slice(2);
const files = asked.length > 0 ? asked : globSync("{packages/*/{src,scripts},scripts,test}/**/*.test.{ts,mjs}").toSorted();
if (files.length === 0) {
  process.stderr.write("No test file found.\n");
  process.exit(1);
}
const result = spawnSync(
  process.execPath,
  [
    "--test",
    `--import=${new URL("untracked-promises.mjs", import.meta.url)}`,
    // Node leaves a core idle by default, which on two cores means one file after another; and some files wait for sockets more than they compute.
    `--test-concurrency=${availableParallelism() + 1}`,
    `--test-reporter=${process.env.TEST_REPORTER ?? "spec"}`,
    "--test-reporter-destination=stdout",
    ...files,
  ],
  {
    stdio: "inherit",
    // Each file is a process of its own, and they load the same sources: stripping types once is enough.
    env: { NODE_COMPILE_CACHE: join("node_modules", ".cache", "compiled"), ...process.env },
  },
);
process.exit(result.status ?? 1);
