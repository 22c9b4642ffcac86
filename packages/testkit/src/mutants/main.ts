import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { readSlice } from "../slice.ts";
import { play, type Outcome } from "./adapters/play.ts";
import { readIndependent, writeNoticed } from "./independent/adapters/lists.ts";
import { readCovering, search } from "./independent/adapters/search.ts";
import { mutantOf } from "./independent/fault.ts";
import { mutants } from "./index.ts";
import { coverageLines, faultLines, witnessesOf } from "./list.ts";
import type { Mutant } from "./mutant.ts";

const HELP = `npm run mutants -- [NAME...] [--file PATH]... [--slice I/N] [--list] [-o json]
npm run mutants -- --search [NAME...]

Plants faults into the product, one after the other, and plays what must notice each: simulated lives, or tests.
Without arguments all are played. Names, --file and --slice may be combined: what any of them chooses is played.
--file PATH, as often as wanted, chooses the faults that edit this file, for example packages/operator/src/decide.ts.
--slice I/N chooses every N-th, from the I-th.
--list prints the chosen faults with what must notice each; without a choice also the checks of effects, and what each incident is planted as.
--search looks for a test that notices an independent fault, among all that run the faulted text, and writes it into the list.
Exit code 1 when one was not noticed.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: "boolean", default: false },
    slice: { type: "string" },
    file: { type: "string", multiple: true, default: [] },
    search: { type: "boolean", default: false },
    output: { type: "string", short: "o" },
    help: { type: "boolean", default: false },
  },
});

const isJson = values.output === "json";
const isAll = positionals.length + values.file.length === 0 && values.slice === undefined;
const independent = readIndependent();

if (values.help) process.stdout.write(HELP);
else if (values.output !== undefined && !isJson) fail(`-o takes json, not "${values.output}"`);
else if (values.list) list(chosen());
else if (values.search) await searchAll();
else await playAll(chosen());

function list(listed: readonly Mutant[]): void {
  const told = listed.map((mutant) => ({ ...describe(mutant), noticedBy: witnessesOf(mutant) }));
  const lines = [...faultLines(listed), ...(isAll ? ["", ...coverageLines(mutants)] : []), ""];
  process.stdout.write(isJson ? `${JSON.stringify(told, undefined, 2)}\n` : lines.join("\n"));
}

function describe({ name, about, stands = [] }: Mutant): Pick<Mutant, "name" | "about" | "stands"> {
  return { name, about, stands };
}

/** What names, files or slice choose. An independent fault that no test is known to notice is chosen by its name alone. */
function chosen(): readonly Mutant[] {
  const known = [...mutants, ...independent.map((fault) => mutantOf(fault))];
  const unknown = positionals.find((name) => !known.some((mutant) => mutant.name === name));
  if (unknown !== undefined) fail(`there is no fault "${unknown}"; --list names them`);
  const all = known.filter(({ tests }) => tests?.length !== 0);
  const slice = values.slice === undefined ? undefined : readSlice(values.slice);
  if (values.slice !== undefined && slice === undefined) fail(`--slice takes I/N with I from 0 to N - 1, not "${values.slice}"`);
  if (isAll) return all;
  const files = values.file.map((path) => path.replace(/^packages\//, ""));
  return known.filter(
    (mutant) =>
      positionals.includes(mutant.name) ||
      (all.includes(mutant) &&
        (mutant.edits.some(({ file }) => files.includes(file)) ||
          (slice !== undefined && all.indexOf(mutant) % slice.count === slice.index))),
  );
}

/** Those that are named, or those without a test that is known. */
async function searchAll(): Promise<void> {
  const wanted = independent.filter(({ name, noticedBy }) =>
    positionals.length > 0 ? positionals.includes(name) : noticedBy === undefined,
  );
  const map = await readCovering(independent, (line) => process.stderr.write(`${line}\n`));
  let missed = 0;
  for (const fault of wanted) {
    const { file, by, detail, seconds } = await search(fault, map);
    if (file === undefined) missed += 1;
    else writeNoticed(new Map([[fault.name, file]]));
    const said = file === undefined ? `NOT NOTICED ${detail}` : `noticed by ${file}: ${by.join(", ")}`;
    process.stdout.write(`${fault.name.padEnd(34)} ${said} (${seconds} s)\n`);
  }
  process.exitCode = missed === 0 ? 0 : 1;
}

async function playAll(wanted: readonly Mutant[]): Promise<void> {
  const begunAt = Date.now();
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
  const caught = outcomes.filter(({ isCaught }) => isCaught).length;
  const minutes = ((Date.now() - begunAt) / 60_000).toFixed(1);
  if (isJson) {
    const told = outcomes.map(({ mutant, ...outcome }) => ({ ...describe(mutant), ...outcome }));
    process.stdout.write(`${JSON.stringify({ played: outcomes.length, caught, mutants: told }, undefined, 2)}\n`);
  } else process.stdout.write(`${caught} of ${outcomes.length} planted faults were noticed in ${minutes} minutes\n`);
  process.exitCode = caught === outcomes.length ? 0 : 1;
}

function fail(message: string): never {
  process.stderr.write(`error: ${message}\n`);
  process.exit(2);
}
