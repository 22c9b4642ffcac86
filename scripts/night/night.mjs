// `npm run night [-- PART...] [--minutes N] [--seeds N] [--fresh]` runs everything that the gate leaves out, and reports it.
// A run goes on where the last one of the same commit stopped. The report is hack/results/night.json and night.txt, with what each failed unit printed.
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { endAtSignals, start } from "../children.mjs";
import { livesKnown, failedLives, unitsKept, unitsToPlay } from "./resume.mjs";
import { PARTS, unitsOf } from "./units.mjs";

process.chdir(resolve(import.meta.dirname, "../.."));

const HELP = `npm run night -- [PART...] [--minutes N] [--seeds N] [--fresh]

Parts: ${PARTS.join(", ")}; all of them by default.
--minutes N begins nothing new after N minutes; the same command goes on where it stopped, as long as the commit is the same.
--seeds N   so many random seeds of lives (default 20).
--fresh     forgets what the chosen parts came to on this commit.
Exit code 1 when a unit of the chosen parts failed, 2 when nothing could be judged, 3 when time was up first.
`;

const RESULTS = "hack/results";
/** Seeds that failed once; the gate plays them in each landing. */
const KNOWN_SEEDS = "scripts/gate/known-seeds.json";

const { values, positionals } = asked();
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const parts = positionals.length === 0 ? PARTS : PARTS.filter((part) => part === "canary" || positionals.includes(part));
const unknown = positionals.find((part) => !PARTS.includes(part));
if (unknown !== undefined) fail(`there is no part "${unknown}"; the parts are ${PARTS.join(", ")}`);
const minutes = values.minutes === undefined ? Infinity : number("minutes");
const seeds = number("seeds");

const git = (...args) => spawnSync("git", args, { encoding: "utf8" }).stdout.trim();
/** What was played with changes that no commit holds is not gone on with. */
const commit = `${git("rev-parse", "HEAD")}${git("status", "--porcelain", "--", ".", `:!${KNOWN_SEEDS}`) === "" ? "" : ` with changes at ${new Date().toISOString()}`}`;
mkdirSync(`${RESULTS}/night`, { recursive: true });
const units = unitsKept(readReport(), { commit, parts, fresh: values.fresh });
plan();

endAtSignals(20_000);
const began = Date.now();
const isTimeUp = () => Date.now() - began > minutes * 60_000;
let stopped = false;
for (const unit of unitsToPlay(units, parts)) {
  if (isTimeUp()) {
    stopped = true;
    break;
  }
  process.stdout.write(`${unit.part.padEnd(12)} ${unit.command}\n`);
  await play(unit);
  process.stdout.write(`${"".padEnd(12)} ${unit.verdict} in ${unit.seconds} s\n`);
  writeReport();
  if (unit.part === "canary" && unit.verdict !== "passed")
    fail("the canary fault was not noticed: nothing else that passes proves anything");
}
writeReport();
process.stdout.write(readFileSync(`${RESULTS}/night.txt`, "utf8"));
process.exitCode = units.some(({ part, verdict }) => parts.includes(part) && verdict === "failed") ? 1 : stopped ? 3 : 0;

/** Units of parts that this commit has not begun yet. Seeds are drawn here, once, so that a run that goes on plays the same ones. */
function plan() {
  for (const part of parts.filter((name) => !units.some((unit) => unit.part === name)))
    units.push(...unitsOf(part, { seeds }).map((unit) => ({ part, ...unit })));
  writeReport();
}

function play(unit) {
  const at = Date.now();
  const child = start(process.execPath, ["scripts/launch/run.cjs", ...unit.args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, CI: "true", ...unit.env },
  });
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => printed.push(chunk));
  return new Promise((done) => {
    child.on("close", (code, signal) => {
      unit.seconds = Math.round((Date.now() - at) / 1000);
      // Killed from outside, as for want of memory: neither passed nor failed, the next run plays it again.
      if (signal !== null) fail(`${unit.command} ended by ${signal}`);
      unit.verdict = code === 0 ? "passed" : "failed";
      const text = Buffer.concat(printed).toString();
      unit.detail = text.trimEnd().split("\n").at(-1) ?? "";
      if (code !== 0) {
        unit.printed = `${RESULTS}/night/${unit.part}-${units.filter(({ part }) => part === unit.part).indexOf(unit)}.log`;
        writeFileSync(unit.printed, text);
      }
      if (unit.seed !== undefined) rememberSeed(unit, text);
      done();
    });
  });
}

function rememberSeed({ seed, command, verdict }, printed) {
  appendFileSync(`${RESULTS}/seeds.jsonl`, `${JSON.stringify({ seed, commit, command, verdict })}\n`);
  const lives = failedLives(printed).map((life) => ({ seed, commit, command: life, verdict }));
  if (lives.length === 0) return;
  const known = livesKnown(JSON.parse(readFileSync(KNOWN_SEEDS, "utf8")), lives);
  writeFileSync(KNOWN_SEEDS, `${JSON.stringify(known, undefined, 2)}\n`);
  process.stdout.write(`${lives.length} lives of seed ${seed} failed; ${KNOWN_SEEDS} names them now: commit it with the fix\n`);
}

function writeReport() {
  writeFileSync(`${RESULTS}/night.json.new`, `${JSON.stringify({ commit, units }, undefined, 2)}\n`);
  renameSync(`${RESULTS}/night.json.new`, `${RESULTS}/night.json`);
  const rows = PARTS.flatMap((part) => {
    const mine = units.filter((unit) => unit.part === part);
    if (mine.length === 0) return [];
    const count = (verdict) => mine.filter((unit) => unit.verdict === verdict).length;
    const seconds = mine.reduce((sum, unit) => sum + (unit.seconds ?? 0), 0);
    return `${part.padEnd(12)} ${String(count("passed")).padStart(4)} passed ${String(count("failed")).padStart(4)} failed ${String(count(undefined)).padStart(4)} to do ${String(seconds).padStart(6)} s`;
  });
  const failures = units
    .filter(({ verdict }) => verdict === "failed")
    .map(({ command, detail, printed }) => `FAILED ${command}\n       ${detail}\n       ${printed}`);
  writeFileSync(`${RESULTS}/night.txt`, `${[`night of ${commit}`, ...rows, ...failures].join("\n")}\n`);
}

function asked() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        minutes: { type: "string" },
        seeds: { type: "string", default: "20" },
        fresh: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    return fail(error.message);
  }
}

function readReport() {
  try {
    return JSON.parse(readFileSync(`${RESULTS}/night.json`, "utf8"));
  } catch (error) {
    // The first night.
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

function number(name) {
  const value = Number(values[name]);
  if (!Number.isInteger(value) || value < 0) fail(`--${name} takes a whole number, not "${values[name]}"`);
  return value;
}

function fail(message) {
  process.stderr.write(`error: ${message}\n`);
  process.exit(2);
}
