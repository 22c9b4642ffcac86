// Runs every test that needs only Node. `npm test -- <file>...` runs those files.
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";

const asked = process.argv.slice(2);
const files = asked.length > 0 ? asked : globSync("{packages/*/{src,scripts},scripts,test}/**/*.test.{ts,mjs}").toSorted();
if (files.length === 0) {
  process.stderr.write("No test file found.\n");
  process.exit(1);
}
const result = spawnSync(
  process.execPath,
  ["--test", `--test-reporter=${process.env.TEST_REPORTER ?? "spec"}`, "--test-reporter-destination=stdout", ...files],
  {
    stdio: "inherit",
  },
);
process.exit(result.status ?? 1);
