// What the night runs, in parts; each part is a list of units of some minutes, so that a run can stop between two of them and go on later.
import { randomInt } from "node:crypto";
import { globSync } from "node:fs";
import { allWorkloads } from "../workloads.mjs";

/** Files of stories in one unit. */
const STORIES_AT_ONCE = 8;
/** Lives of one random seed. */
const LIVES = 50;
/** Parts of the crash plans of one workload. */
const CRASH_PARTS = 2;
/** Parts of all planted faults. */
const FAULT_PARTS = 40;
/** A fault that every run must notice: silence would mean that the night sees nothing. */
const CANARY = "double-bootstrap";

const SIMULATE = ["--max-semi-space-size=64", "packages/testkit/src/simulate/main.ts"];
const MUTANTS = "packages/testkit/src/mutants/main.ts";

/** The parts in the order in which they run. */
export const PARTS = ["canary", "tests", "stories", "recorded", "lives", "crash-plans", "faults", "real"];

/**
 * Units of one part: the words after `node scripts/launch/run.cjs`, and the command that a person types.
 *
 * @param seeds how many random seeds of lives
 */
export function unitsOf(part, { seeds }) {
  switch (part) {
    case "canary":
      return [npm("mutants", CANARY, [MUTANTS, CANARY])];
    case "tests":
      return [testsOf(randomInt(1, 1_000_000))];
    case "stories":
      return chunks(globSync("packages/testkit/src/stories/**/*.test.ts").toSorted(), STORIES_AT_ONCE).map((files) =>
        npm("test:stories", files.join(" "), ["scripts/test.mjs", "--stories", ...files]),
      );
    case "recorded":
      return [npm("simulate", "--compare-recorded", [...SIMULATE, "--compare-recorded"])];
    case "lives":
      return Array.from({ length: seeds }, () => livesOf(randomInt(1, 1_000_000)));
    case "crash-plans":
      return allWorkloads().flatMap((name) =>
        Array.from({ length: CRASH_PARTS }, (_, index) => `--crash-plans --workload ${name} --slice ${index}/${CRASH_PARTS}`).map((words) =>
          npm("simulate", words, [...SIMULATE, ...words.split(" ")]),
        ),
      );
    case "faults":
      return Array.from({ length: FAULT_PARTS }, (_, index) => `${index}/${FAULT_PARTS}`).map((slice) =>
        npm("mutants", `--slice ${slice}`, [MUTANTS, "--slice", slice]),
      );
    case "real":
      return globSync("{test,packages/*/src}/**/*.real-test.ts")
        .toSorted()
        .map((file) => npm("test:real", file, ["scripts/test-real.mjs", file]));
    default:
      throw new Error(`there is no part "${part}"; the parts are ${PARTS.join(", ")}`);
  }
}

function npm(script, words, args) {
  const command = `npm run ${script} -- ${words}`;
  return { args, command };
}

function testsOf(seed) {
  return { args: ["scripts/test.mjs"], command: `PROPERTY_SEED=${seed} npm test`, env: { PROPERTY_SEED: String(seed) } };
}

function livesOf(seed) {
  const words = `--seed ${seed} --runs ${LIVES} --workload all --trouble rotate`;
  return { ...npm("simulate", words, [...SIMULATE, ...words.split(" ")]), seed };
}

function chunks(list, size) {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) => list.slice(index * size, (index + 1) * size));
}
