import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { mutants } from "./index.ts";
import type { Mutant } from "./mutant.ts";
import { play, processorSecondsOfChildren, type Outcome } from "./adapters/play.ts";
import { unplantable } from "./required.ts";
import { effortLine, guardsLine, readEffort, readTable, tableOf } from "./table.ts";

const HELP = `npm run mutants -- [NAME...] [--only-guards] [--list] [--slice I/N|auto] [--write] [-o json]

Plants faults into the product, one after the other, and plays what must notice each: simulated lives, or tests.
--only-guards plays those that take one check of an effect away, and tells how many of them are noticed.
--slice auto plays a tenth, which one is told by the commit. --write puts the outcomes into docs/reference/mutants.md.
Exit code 1 when one was not noticed.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: "boolean", default: false },
    slice: { type: "string" },
    "only-guards": { type: "boolean", default: false },
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
else await playAll(chosen());

function list(): void {
  const listed = chosen().map(({ name, about, stands = [] }) => ({ name, about, stands }));
  if (isJson) process.stdout.write(`${JSON.stringify(listed, undefined, 2)}\n`);
  else
    for (const { name, about, stands } of listed)
      process.stdout.write(`${name.padEnd(34)} ${about}${stands.length === 0 ? "" : ` [${stands.join(", ")}]`}\n`);
}

function chosen(): readonly Mutant[] {
  if (positionals.length > 0) {
    const unknown = positionals.find((name) => !mutants.some((mutant) => mutant.name === name));
    if (unknown !== undefined) fail(`there is no mutant "${unknown}"; --list names them`);
    return mutants.filter(({ name }) => positionals.includes(name));
  }
  const some = values["only-guards"] ? mutants.filter(({ isGuard }) => isGuard === true) : mutants;
  if (values.slice === undefined) return some;
  const { index, count } = sliceOf(values.slice);
  process.stderr.write(`slice ${index}/${count}\n`);
  return some.filter((_mutant, position) => position % count === index);
}

function sliceOf(text: string): { readonly index: number; readonly count: number } {
  if (text === "auto") {
    const commit = execFileSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" }).trim();
    return { index: Number.parseInt(commit.slice(0, 8), 16) % 10, count: 10 };
  }
  const [, index = "", count = ""] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  if (count === "" || Number(index) >= Number(count)) fail(`--slice takes I/N with I from 0 to N - 1, or auto, not "${text}"`);
  return { index: Number(index), count: Number(count) };
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
  const isCaught = (name: string): boolean => outcomes.some((outcome) => outcome.mutant.name === name && outcome.isCaught);
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
    process.stdout.write(
      `${outcomes.length - missed.length} of ${outcomes.length} planted faults were noticed in ${minutes} minutes\n${wanted.some(({ isGuard }) => isGuard) ? `${guardsLine(wanted, isCaught)}\n` : ""}`,
    );
  if (values.write) {
    const page = readPage();
    const before = readTable(page);
    const processorAfter = processorSecondsOfChildren();
    const isWhole = wanted.length === mutants.length && processorBefore !== undefined && processorAfter !== undefined;
    const effort = isWhole ? effortLine((processorAfter - processorBefore) / 60) : readEffort(page);
    for (const { mutant, isCaught, by } of outcomes) before.set(mutant.name, isCaught ? by.join(", ") : "not noticed");
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
