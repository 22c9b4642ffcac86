import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { mutants } from "../mutants/index.ts";
import type { Mutant } from "../mutants/mutant.ts";
import { plantMutant } from "../mutants/plant.ts";
import { compiledOnce } from "./compiled.ts";
import { readSlice } from "../slice.ts";
import type { TroubleKind } from "./troubles.ts";
import { createReport, joinReports, tellLife, type Report } from "./report.ts";
import type { RunResult } from "./run-result.ts";
import type { RunOptions } from "./run.ts";
import type { Workload } from "./workload.ts";

const HELP = `npm run simulate -- [--seed S] [--runs N] [--workload NAME|list|all] [--crash-plans] [--compare-recorded] [--mutant NAME|list] [--trouble NAME[,NAME]|rotate] [--only I] [--slice I/N] [--until-violation] [--json]

--crash-plans runs every effect with every crash once instead of N runs by chance; of all workloads unless one is named.
--compare-recorded plays lives without any fault, of all workloads unless one is named, and compares what each machine gets with what an earlier version did.
--trouble rotate goes round over all workloads, or the one that is named, and over all troubles, N lives in all, and prints for each how to play it again alone.
--slice I/N plays every N-th of either, from the I-th.
Plays whole clusters in virtual time: crashes at every effect, lost, late and doubled replies. The same seed gives the same trace.
Exit code 1 when an invariant was broken or a run did not reach its goal.
`;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    runs: { type: "string", default: "100" },
    workload: { type: "string" },
    mutant: { type: "string" },
    trouble: { type: "string" },
    only: { type: "string" },
    slice: { type: "string" },
    "crash-plans": { type: "boolean", default: false },
    "compare-recorded": { type: "boolean", default: false },
    "until-violation": { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(HELP);
else if (values.mutant === "list") listMutants();
else await simulate();

function listMutants(): void {
  if (values.json) process.stdout.write(`${JSON.stringify(mutants.map(({ name, about }) => ({ name, about })))}\n`);
  else for (const { name, about } of mutants) process.stdout.write(`${name.padEnd(30)} ${about}\n`);
}

async function simulate(): Promise<void> {
  // Errors of machines are made by the thousand and read by code alone; whoever repeats one run wants to know where.
  if (values.only === undefined) Error.stackTraceLimit = 0;
  // A third of the start of a process is reading and compiling the product.
  enableCompileCache(compiledOnce.NODE_COMPILE_CACHE);
  const mutant = findMutant();
  // Only now may the product be imported: a mutant is planted while it loads.
  if (mutant !== undefined) plantMutant(mutant);
  const { planClean, planCrashes, planRuns } = await import("./plan-runs.ts");
  const { playRecorded, readRecording } = await import("./recorded-lives.ts");
  const { planRotation } = await import("./rotation.ts");
  const { ADDON_TROUBLES, BACKUP_TROUBLES, LATER_TROUBLES, TROUBLES } = await import("./troubles.ts");
  const { workloads } = await import("./workloads/index.ts");
  const { run } = await import("./run.ts");

  if (values.workload === "list") return listWorkloads(workloads);
  const known = [...TROUBLES, ...LATER_TROUBLES];
  const rotates = values.trouble === "rotate";
  const troubles =
    (rotates ? known : findTroubles([...known, ...BACKUP_TROUBLES, ...ADDON_TROUBLES])) ??
    (mutant?.trouble === undefined ? undefined : [mutant.trouble]);
  const playsAll = values["crash-plans"] || values["compare-recorded"] || rotates;
  const wanted = values.workload ?? (playsAll ? "all" : (mutant?.workload ?? "create"));
  const chosen = wanted === "all" ? workloads : workloads.filter(({ name }) => name === wanted);
  if (chosen.length === 0) fail(`there is no workload "${wanted}"; --workload list names them`);
  const subject = { seed: integer("seed"), workload: wanted, mutant: mutant?.name };
  if (rotates) {
    if (values["crash-plans"]) fail("--crash-plans meets no troubles; leave --trouble rotate out");
    if (values.slice === undefined && values.only === undefined) return tell(joinReports(subject, await playInTwo(wanted)));
    const input = { ...subject, workloads: chosen, runs: integer("runs"), troubles: known };
    return tell(createReport(subject, await playRotation(planRotation(input), run)));
  }
  if (values.slice !== undefined && !values["crash-plans"]) fail("--slice goes with --trouble rotate and with --crash-plans");
  if (chosen.length > 1) return tell(joinReports(subject, await playApart(chosen)));
  const results: RunResult[] = [];
  const begunAt = Date.now();
  if (values["compare-recorded"]) {
    const recording = readRecording((file) => readFileSync(file, "utf8"));
    for (const workload of chosen) results.push(...(await playRecorded(workload, recording, run)));
    return tell(createReport(subject, results));
  }
  for (const workload of chosen) {
    const input = { ...subject, workload, runs: integer("runs"), troubles };
    let planned = values["crash-plans"] ? [] : planRuns(input);
    if (values["crash-plans"]) {
      const clean = workload.name === "create" ? undefined : { options: planClean(input), result: await run(planClean(input)) };
      if (clean !== undefined) results.push(clean.result);
      planned = values.only === undefined ? planCrashes(input, clean).filter(isInSlice()) : planCrashes(input, clean);
    }
    const only = values.only === undefined ? planned : planned.slice(integer("only"), integer("only") + 1);
    const before = results.length;
    for (const options of only) {
      results.push(await run(options));
      if (values["until-violation"] && (results.at(-1)?.violations.length ?? 0) > 0) break;
      if (process.stderr.isTTY)
        process.stderr.write(
          `\r${workload.name}: ${results.length - before}/${only.length} runs, ${((Date.now() - begunAt) / 1000).toFixed(0)} s `,
        );
    }
    if (values["until-violation"] && (results.at(-1)?.violations.length ?? 0) > 0) break;
  }
  if (process.stderr.isTTY) process.stderr.write("\n");
  const seconds = process.cpuUsage().user / 1e6;
  process.stderr.write(`${(results.length / seconds).toFixed(1)} lifecycles for each second of one core, start included\n`);
  tell(createReport(subject, results));
}

/** Those of a rotation that are asked for, with a line for each. */
async function playRotation(
  planned: readonly RunOptions[],
  run: (options: RunOptions) => Promise<RunResult>,
): Promise<readonly RunResult[]> {
  const isAsked = isInSlice();
  const results: RunResult[] = [];
  for (const [index, options] of planned.entries()) {
    if (values.only === undefined ? !isAsked(options, index) : index !== integer("only")) continue;
    const result = await run(options);
    results.push(result);
    process.stderr.write(`${tellLife(index, options, result)}\n`);
    if (result.violations.length > 0 && values["until-violation"]) break;
  }
  return results;
}

function isInSlice(): (options: RunOptions, position: number) => boolean {
  const text = values.slice ?? "0/1";
  const slice = readSlice(text);
  if (slice === undefined) fail(`--slice takes I/N with I from 0 to N - 1, not "${text}"`);
  return (_options, position) => position % slice.count === slice.index;
}

/** A rotation in two processes, every second life in each. */
function playInTwo(workload: string): Promise<readonly Report[]> {
  const own = ["--workload", workload, ...passedOn()];
  return Promise.all(["0/2", "1/2"].map((slice) => playOne([...own, "--slice", slice], (said) => process.stderr.write(said))));
}

/** What processes of a part are told that this one was told. */
function passedOn(): readonly string[] {
  const rest = ["--seed", values.seed, "--runs", values.runs, "--json"];
  for (const flag of ["crash-plans", "compare-recorded", "until-violation"] as const) if (values[flag]) rest.push(`--${flag}`);
  for (const option of ["mutant", "trouble", "slice"] as const) if (values[option] !== undefined) rest.push(`--${option}`, values[option]);
  return rest;
}

/** Each workload in a process of its own, two at a time. */
async function playApart(chosen: readonly Workload[]): Promise<readonly Report[]> {
  const rest = passedOn();
  const reports: Report[] = [];
  const waiting = [...chosen.entries()];
  const play = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, { name }] = next;
      const begunAt = Date.now();
      reports[index] = await playOne(["--workload", name, ...rest]);
      process.stderr.write(`${name}: ${reports[index].runs} runs in ${((Date.now() - begunAt) / 1000).toFixed(0)} s\n`);
    }
  };
  await Promise.all([play(), play()]);
  return reports;
}

/** @param heard what it says while it plays */
function playOne(args: readonly string[], heard: (said: string) => void = () => undefined): Promise<Report> {
  return new Promise((resolve, reject) => {
    const node = [...process.execArgv, fileURLToPath(import.meta.url), ...args];
    const child = execFile(
      process.execPath,
      node,
      { maxBuffer: 2 ** 28, env: { ...compiledOnce, ...process.env } },
      (_failed, stdout, stderr) => {
        // Exit code 1 comes with a report; without one the run itself broke.
        if (stdout === "") reject(new Error(stderr.slice(0, 2000)));
        else resolve(JSON.parse(stdout) as Report);
      },
    );
    child.stderr?.on("data", (said: unknown) => heard(String(said)));
  });
}

function tell(report: Report): void {
  process.stdout.write(values.json ? `${JSON.stringify(report, undefined, 2)}\n` : describe(report));
  process.exitCode = report.violations.length > 0 || report.reachedGoal < report.runs ? 1 : 0;
}

function listWorkloads(known: readonly Workload[]): void {
  if (values.json) process.stdout.write(`${JSON.stringify(known.map(({ name, about }) => ({ name, about })))}\n`);
  else for (const { name, about } of known) process.stdout.write(`${name.padEnd(22)} ${about}\n`);
}

function findMutant(): Mutant | undefined {
  if (values.mutant === undefined) return undefined;
  const found = mutants.find(({ name }) => name === values.mutant);
  if (found === undefined) fail(`there is no mutant "${values.mutant}"; --mutant list names them`);
  return found;
}

function findTroubles(known: readonly TroubleKind[]): readonly TroubleKind[] | undefined {
  return values.trouble?.split(",").map((name) => {
    const found = known.find((kind) => kind === name);
    if (found === undefined) fail(`there is no trouble "${name}"; use one of ${known.join(", ")}`);
    return found;
  });
}

function integer(name: "seed" | "runs" | "only"): number {
  const value = Number(values[name]);
  if (!Number.isInteger(value) || value < 0) fail(`--${name} takes a whole number, not "${values[name] ?? ""}"`);
  return value;
}

function fail(message: string): never {
  process.stderr.write(`error: ${message}\n`);
  process.exit(2);
}

function describe(report: Report): string {
  const lines = [
    `seed ${report.seed}, ${report.runs} runs of ${report.workload}${report.mutant === undefined ? "" : `, mutant ${report.mutant}`}: ${report.violations.length} violations, ${report.reachedGoal} reached the goal, ${report.virtualSeconds} virtual seconds`,
    `trace ${report.traceHash}`,
    "",
    "effect    sent  effect    C0    C1    C2    C3     D     R     L     E     X",
    ...Object.entries(report.effects).map(
      ([effect, counts]) =>
        `${effect.padEnd(6)}${[counts.sent, counts.tookEffect, counts.C0, counts.C1, counts.C2, counts.C3, counts.D, counts.R, counts.L, counts.E, counts.X].map((n, index) => String(n).padStart(index < 2 ? 8 : 6)).join("")}`,
    ),
  ];
  for (const violation of report.violations) {
    lines.push("", `${violation.invariant}: ${violation.detail}`, `  ${violation.replay}`, ...violation.trace.map((line) => `    ${line}`));
  }
  return `${lines.join("\n")}\n`;
}
