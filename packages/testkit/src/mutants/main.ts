import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { mutants } from "./index.ts";
import type { Mutant } from "./mutant.ts";
import { readSlice } from "../adapters/slice.ts";
import { readIndependent, writeNoticed } from "./independent/adapters/lists.ts";
import { readCovering, search } from "./independent/adapters/search.ts";
import { mutantOf, sampleOf } from "./independent/fault.ts";
import { play, processorSecondsOfChildren, type Outcome } from "./adapters/play.ts";
import { unplantable } from "./required.ts";
import { effortLine, readEffort, readTable, tableOf } from "./table.ts";

const HELP = `npm run mutants -- [NAME...] [--list] [--slice I/N|auto] [--write] [-o json]
npm run mutants -- --independent [NAME...] [--sample] [--search] [--list] [--slice I/N|auto] [--write] [-o json]

Plants faults into the product, one after the other, and plays what must notice each: simulated lives, or tests.
--slice auto plays a tenth, which one depends on the commit, and a thirtieth of the independent faults. --write puts the outcomes into
docs/reference/mutants.md.
--independent plays the faults that somebody thought of who had read no test; --sample the first eight of each area.
--search looks for a test that notices, among all that run the faulted text, cheapest first; --write then puts it into the list.
Exit code 1 when one was not noticed.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: "boolean", default: false },
    slice: { type: "string" },
    independent: { type: "boolean", default: false },
    sample: { type: "boolean", default: false },
    search: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    output: { type: "string", short: "o" },
    help: { type: "boolean", default: false },
  },
});

const isJson = values.output === "json";
const pagePath = fileURLToPath(new URL("../../../../docs/reference/mutants.md", import.meta.url));

if (values.help) process.stdout.write(HELP);
else if (values.output !== undefined && !isJson) fail(`-o takes json, not "${values.output}"`);
else if (values.list) list();
else if (values.search) await searchAll(chosen());
else await playAll(chosen());

function list(): void {
  const listed = chosen().map(({ name, about, stands = [] }) => ({ name, about, stands }));
  if (isJson) process.stdout.write(`${JSON.stringify(listed, undefined, 2)}\n`);
  else
    for (const { name, about, stands } of listed)
      process.stdout.write(`${name.padEnd(34)} ${about}${stands.length === 0 ? "" : ` [${stands.join(", ")}]`}\n`);
}

function chosen(): readonly Mutant[] {
  const all = values.independent ? independent() : mutants;
  if (positionals.length > 0) {
    const unknown = positionals.find((name) => !all.some((mutant) => mutant.name === name));
    if (unknown !== undefined) fail(`there is no mutant "${unknown}"; --list names them`);
    return all.filter(({ name }) => positionals.includes(name));
  }
  if (values.slice === undefined) return all;
  const slice = readSlice(values.slice, 10);
  if (slice === undefined) fail(`--slice takes I/N with I from 0 to N - 1, or auto, not "${values.slice}"`);
  const { index, count } = slice;
  process.stderr.write(`slice ${index}/${count}\n`);
  const every = (list: readonly Mutant[], nth: number): readonly Mutant[] => list.filter((_mutant, position) => position % nth === index);
  // The others are many, and each of them has a test that runs with everything anyway.
  return values.slice === "auto" && !values.independent ? [...every(all, count), ...every(independent(), 3 * count)] : every(all, count);
}

/** Those that are faults; without a search, those of them that a test is known to notice. */
function independent(): readonly Mutant[] {
  const all = readIndependent();
  return (values.sample ? sampleOf(all) : all)
    .filter(({ none, noticedBy }) => none === undefined && (values.search || positionals.length > 0 || noticedBy !== undefined))
    .map((fault) => mutantOf(fault));
}

async function searchAll(wanted: readonly Mutant[]): Promise<void> {
  const faults = readIndependent();
  const map = await readCovering(faults, (line) => process.stderr.write(`${line}\n`));
  let missed = 0;
  for (const { name, tests = [] } of wanted) {
    const fault = faults.find((one) => one.name === name);
    if (fault === undefined || (tests.length > 0 && positionals.length === 0)) continue;
    const { file, by, detail, seconds } = await search(fault, map);
    if (file === undefined) missed += 1;
    else if (values.write) writeNoticed(new Map([[name, file]]));
    const said = file === undefined ? `NOT NOTICED ${detail}` : `noticed by ${file}: ${by.join(", ")}`;
    process.stdout.write(`${name.padEnd(34)} ${said} (${seconds} s)\n`);
  }
  process.exitCode = missed === 0 ? 0 : 1;
}

async function playAll(wanted: readonly Mutant[]): Promise<void> {
  const begunAt = Date.now();
  const processorBefore = processorSecondsOfChildren();
  const waiting = [...wanted];
  const outcomes: Outcome[] = [];
  const worker = async (): Promise<void> => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const outcome = await play(mutant);
      outcomes.push(outcome);
      const said = outcome.isCaught ? `noticed by ${outcome.by.join(", ")}` : `NOT NOTICED ${outcome.detail}`;
      (isJson ? process.stderr : process.stdout).write(`${mutant.name.padEnd(34)} ${said} (${outcome.seconds} s)\n`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, worker));
  const missed = outcomes.filter(({ isCaught }) => !isCaught);
  const minutes = ((Date.now() - begunAt) / 60_000).toFixed(1);
  if (isJson) {
    const told = outcomes.map(({ mutant: { name, about, stands = [] }, isCaught, by, detail, seconds }) => ({
      name,
      about,
      stands,
      isCaught,
      by,
      detail,
      seconds,
    }));
    process.stdout.write(
      `${JSON.stringify({ played: outcomes.length, caught: outcomes.length - missed.length, mutants: told }, undefined, 2)}\n`,
    );
  } else
    process.stdout.write(`${outcomes.length - missed.length} of ${outcomes.length} planted faults were noticed in ${minutes} minutes\n`);
  if (values.write) {
    const page = readPage();
    const before = readTable(page);
    const processorAfter = processorSecondsOfChildren();
    const isWhole = wanted.length === mutants.length && processorBefore !== undefined && processorAfter !== undefined;
    const effort = isWhole ? effortLine((processorAfter - processorBefore) / 60) : readEffort(page);
    for (const { mutant, isCaught, by } of outcomes)
      if (mutants.includes(mutant)) before.set(mutant.name, isCaught ? by.join(", ") : "not noticed");
    writeFileSync(pagePath, tableOf(mutants, before, effort, unplantable));
    execFileSync(process.execPath, [
      fileURLToPath(new URL("../../../../node_modules/prettier/bin/prettier.cjs", import.meta.url)),
      "--write",
      "--log-level",
      "warn",
      pagePath,
    ]);
  }
  process.exitCode = missed.length === 0 ? 0 : 1;
}

function readPage(): string {
  try {
    return readFileSync(pagePath, "utf8");
  } catch (thrown) {
    // The first one has no page yet.
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw thrown;
  }
}

function fail(message: string): never {
  process.stderr.write(`error: ${message}\n`);
  process.exit(2);
}
