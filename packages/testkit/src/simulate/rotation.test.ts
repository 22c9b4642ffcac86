import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { planRun } from "./plan-runs.ts";
import type { Report } from "./report.ts";
import { planRotation } from "./rotation.ts";
import { ADDON_TROUBLES, BACKUP_TROUBLES, LATER_TROUBLES, TROUBLES } from "./troubles.ts";
import { workloads } from "./workloads/index.ts";

const troubles = [...TROUBLES, ...LATER_TROUBLES];
/** Those without troubles of their own, which take every second turn. */
const alike = workloads.filter((workload) => workload.troubles === undefined);

test("a rotation plays every workload and every trouble, and every pair of them once in as many lives as there are pairs", () => {
  const few = planRotation({ seed: 1, runs: 200, workloads: alike, troubles, mutant: undefined });
  assert.equal(new Set(few.map(({ workload }) => workload)).size, alike.length);
  assert.deepEqual(new Set(few.flatMap((life) => life.troubles)), new Set(troubles));
  const quiet = few.filter((life) => life.troubles.length === 0);
  assert.ok(quiet.length > 10 && quiet.length < 30, `${quiet.length} lives without a trouble`);
  assert.ok(quiet.every(({ idleMinutes }) => idleMinutes > 0));
  const pairs = alike.length * troubles.length;
  const many = planRotation({ seed: 1, runs: pairs, workloads: alike, troubles, mutant: undefined });
  // Of those without a trouble it is the command that names the one whose turn it was.
  const met = new Set(many.map(({ workload, replay }) => `${workload.name} ${/--trouble (\S+)/.exec(replay)?.[1] ?? ""}`));
  assert.equal(met.size, pairs);
});

test("each life of a rotation can be played again alone, by the command that it names", () => {
  for (const life of planRotation({ seed: 5, runs: 60, workloads, troubles, mutant: undefined })) {
    const [, seed, runs, only, workload, trouble] =
      /--seed (\d+) --runs (\d+) --only (\d+) --workload (\S+) --trouble (\S+)$/.exec(life.replay) ?? [];
    const input = {
      seed: Number(seed),
      workload: workloads.find(({ name }) => name === workload) ?? assert.fail(),
      mutant: undefined,
      troubles: [[...troubles, ...BACKUP_TROUBLES, ...ADDON_TROUBLES].find((kind) => kind === trouble) ?? assert.fail()],
    };
    assert.equal(Number(runs), Number(only) + 1);
    const again = planRun(input, Number(only));
    assert.deepEqual(again, life);
  }
});

test("the command goes round over all workloads, tells of each life, and leaves the same trace for the same seed", async () => {
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const args = [main, "--json", "--seed", "2", "--runs", "3", "--trouble", "rotate"];
  const play = async () => promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26 });
  const [one, other] = await Promise.all([play(), play()]);
  const report = JSON.parse(one.stdout) as Report;
  assert.equal(report.runs, 3);
  assert.deepEqual(report.violations, []);
  assert.equal((JSON.parse(other.stdout) as Report).traceHash, report.traceHash);
  for (const { name } of workloads.slice(0, 3))
    assert.match(one.stderr, new RegExp(`^ *\\d ${name} .*reached.*--workload ${name} --trouble`, "m"));
});
