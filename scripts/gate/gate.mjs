// Everything that must hold before a change lands: `.ci/run`. Prints what each stage took and what is left to `npm run night`.
// Plain JavaScript for Node 20: the clone that it stands in is a fresh one, and README's commands install what is needed.
// At most two processes compute at once, and none beside a genuine server.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { endAtSignals, start } from "../children.mjs";
import { ensureParts, partsOfAll } from "../parts.mjs";
import { cleanCommit, rememberPassed } from "./passed.mjs";
import { playCommand, readmeCommands } from "./readme.mjs";
import { SMOKE } from "./smoke.mjs";

process.chdir(join(dirname(fileURLToPath(import.meta.url)), "../.."));

/** Faults of foundings and keys, whose rules nothing may lose. */
const ALWAYS_PLANTED = ["double-bootstrap", "bootstrap-intent-in-memory", "regenerate-missing-bundle"];
const LIVES = 60;
/** One of so many parts of the crash plans of a workload, and of all planted faults. */
const CRASH_PARTS = 6;
const FAULT_PARTS = 20;
const SIMULATE = ["--max-semi-space-size=64", "packages/testkit/src/simulate/main.ts"];

/** Bounds a run that hangs. It is no measure: a run that works comes near it on no machine. */
const RUN_MS = 10_800_000;

const times = [];
const began = Date.now();
let current = "";
const secondsSince = (at) => Math.round((Date.now() - at) / 1000);

async function stage(name, ...works) {
  const at = Date.now();
  current = name;
  process.stdout.write(`\n=== ${name}\n`);
  const outcomes = await Promise.allSettled(works.map(async (work) => work()));
  times.push(`${String(secondsSince(at)).padStart(5)} s  ${name}`);
  const reasons = outcomes.flatMap(({ reason }) => reason?.message ?? []);
  if (reasons.length > 0) fail(`${name} FAILED after ${secondsSince(at)} s: ${reasons.join("; ")}`);
}

function fail(message) {
  process.stdout.write(`${times.join("\n")}\n\n=== ${message}\n`);
  process.exit(1);
}

/** A script of the repository, with the Node and the packages that it needs. */
function script(...args) {
  return () =>
    new Promise((resolve, reject) => {
      const child = start(process.execPath, ["scripts/launch/run.cjs", ...args], { stdio: ["ignore", "inherit", "inherit"] });
      child.on("error", reject);
      child.on("close", (code, signal) =>
        code === 0 ? resolve() : reject(new Error(`${args.slice(0, 3).join(" ")} ended with ${signal ?? `exit code ${code}`}`)),
      );
    });
}

function assertNothingChanged() {
  if (gitStatus() === before) return;
  spawnSync("git", ["--no-pager", "diff", "--stat"], { stdio: ["ignore", "inherit", "inherit"] });
  throw new Error('generated files are not current: run "npm run generate" and commit');
}

/** Which files are changed, and how: a run on a tree with changes sees those that it makes too. */
const gitStatus = () =>
  [["status", "--porcelain"], ["diff"]].map((words) => spawnSync("git", words, { encoding: "utf8", maxBuffer: 2 ** 28 }).stdout).join("");

function planned() {
  const { status, stdout } = spawnSync(process.execPath, ["scripts/launch/run.cjs", "scripts/gate/plan.mjs"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error("nothing could be chosen; the lines above say why");
  return JSON.parse(stdout);
}

const begun = cleanCommit();
const [demo, test] = readmeCommands();
endAtSignals(20_000);
setTimeout(() => fail(`${current} FAILED: the run goes on for ${RUN_MS / 60_000} minutes`), RUN_MS).unref();

// The longest build goes on while npm waits for its registry and the demo for its machines.
await stage(
  `README: ${demo.split("#")[0].trim()}, beside the build of kube-apiserver`,
  () => playCommand(demo),
  () => ensureParts(["kube-apiserver"], 1),
);
await stage("genuine parts", () => ensureParts(partsOfAll(SMOKE)));
await stage("README: npm test", () => playCommand(test));

const before = gitStatus();
const { base, turn, changed, stories, storiesLeft, workloads, real, realLeft, parts, faulted } = planned();
process.stdout.write(`\n${changed} files differ from ${base.slice(0, 12)}\n`);
// Before what takes long: without Go one of them may be missing for good.
await stage("further genuine parts", () => ensureParts(parts));
await stage("lint and types", script("scripts/lint.mjs"), script("node_modules/typescript/bin/tsc", "--noEmit", "-p", "tsconfig.json"));
await stage("generated files", async () => {
  await script("scripts/generate.mjs")();
  assertNothingChanged();
});
await stage("build", script("scripts/build.mjs"));
await stage(`stories: ${stories.length} files`, script("scripts/test.mjs", "--stories", ...stories));
await stage(
  `simulation: ${LIVES} lives`,
  script(...SIMULATE, "--seed", "1", "--runs", `${LIVES}`, "--workload", "all", "--trouble", "rotate"),
);
for (const { command } of JSON.parse(readFileSync("scripts/gate/known-seeds.json", "utf8")))
  await stage(`known seed: ${command}`, script(...SIMULATE, ...command.replace("npm run simulate -- ", "").split(" ")));
const crashes = `${turn % CRASH_PARTS}/${CRASH_PARTS}`;
while (workloads.length > 0) {
  const pair = workloads.splice(0, 2);
  await stage(
    `crash plans: part ${crashes} of ${pair.join(" and ")}`,
    ...pair.map((name) => script(...SIMULATE, "--crash-plans", "--workload", name, "--slice", crashes)),
  );
}
await stage(
  `planted faults: part ${turn % FAULT_PARTS} of ${FAULT_PARTS}, and those of ${faulted.length} files`,
  script(
    "packages/testkit/src/mutants/main.ts",
    ...ALWAYS_PLANTED,
    "--slice",
    `${turn % FAULT_PARTS}/${FAULT_PARTS}`,
    ...faulted.flatMap((file) => ["--file", file]),
  ),
);
await stage(
  `real tests: ${SMOKE.length} of every landing, ${real.length} of what changed`,
  script("scripts/test-real.mjs", ...SMOKE, ...real),
);

rememberPassed(begun);
process.stdout.write(
  `\n=== all stages passed in ${secondsSince(began)} s\n${times.join("\n")}\n` +
    `Left to npm run night: ${storiesLeft} files of stories, ${realLeft} real test files, the other crash plans and planted faults, lives from random seeds.\n`,
);
