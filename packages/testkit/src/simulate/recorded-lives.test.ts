import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { compareLife, livesOf, readRecording } from "./recorded-lives.ts";
import type { Report } from "./report.ts";
import { workloads } from "./workloads/index.ts";

const { recorded, wanted } = readRecording((file) => readFileSync(file, "utf8"));
/** All of them take minutes: CI plays them, a test two by chance. */
const CHOSEN = 2;

describe("lives without a fault, as an earlier version led them", () => {
  test("are lives that are still played, and every wanted difference is one of a life that is there", () => {
    for (const [name, lives] of Object.entries(recorded)) {
      const workload = workloads.find((one) => one.name === name) ?? assert.fail(`there is no workload ${name} any more`);
      for (const life of Object.keys(lives)) assert.ok(livesOf(workload).has(life), `${name}, ${life}`);
    }
    for (const { workload, life, machine, now, reason } of wanted) {
      assert.ok(recorded[workload]?.[life] !== undefined, `${workload}, ${life}`);
      assert.notEqual(recorded[workload][life][machine] ?? "", now, `${workload}, ${life}, ${machine}: this is no difference`);
      assert.ok(reason.length > 20, `${workload}, ${life}, ${machine}: say why`);
    }
  });

  const names = Object.keys(recorded);
  const first = randomInt(names.length);
  for (const name of Array.from({ length: CHOSEN }, (_, index) => names[(first + index * 7) % names.length] ?? assert.fail()))
    test(`are led so today: ${name}`, async () => {
      const main = fileURLToPath(new URL("main.ts", import.meta.url));
      const args = [main, "--json", "--compare-recorded", "--workload", name];
      const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26 }).catch(
        (error: unknown) => error as { stdout: string },
      );
      const report = JSON.parse(stdout) as Report;
      assert.deepEqual(
        report.violations.map(({ invariant, detail }) => `${invariant}: ${detail}`),
        [],
      );
      assert.equal(report.reachedGoal, recordedCount(name));
    });
});

const recordedCount = (name: string): number => Object.keys(recorded[name] ?? {}).length;

describe("a comparison with a recorded life", () => {
  const life = { workload: "drain", life: "ready 1" };
  const before = { "10.5.0.1": "T3 ApplyConfiguration, T11 Reboot", "10.5.0.2": "T9 Reset" };
  const same = { "10.5.0.1": ["T3 ApplyConfiguration", "T11 Reboot"], "10.5.0.2": ["T9 Reset"] };
  const meant = { ...life, machine: "10.5.0.2", now: "", reason: "It is wiped by somebody else now." };

  test("tells nothing of what is as it was, or as it is meant to be", () => {
    assert.deepEqual(compareLife(life, before, same, []), []);
    assert.deepEqual(compareLife(life, before, { "10.5.0.1": same["10.5.0.1"] }, [meant]), []);
    assert.deepEqual(compareLife(life, before, same, [{ ...meant, life: "birth 6" }]), []);
  });

  for (const [what, now, says] of [
    ["another order", { ...same, "10.5.0.1": same["10.5.0.1"].toReversed() }, /10\.5\.0\.1:\n +recorded: T3 .*\n +now: +T11 Reboot, T3/],
    ["an effect that is missing", { "10.5.0.1": same["10.5.0.1"] }, /10\.5\.0\.2:\n +recorded: T9 Reset\n +now: +nothing/],
    ["an effect on another machine", { ...same, "10.5.0.3": ["T9 Reset"] }, /10\.5\.0\.3:\n +recorded: nothing\n +now: +T9 Reset/],
    ["one that takes place twice", { ...same, "10.5.0.2": ["T9 Reset", "T9 Reset"] }, /now: +T9 Reset, T9 Reset/],
  ] as const)
    test(`tells of ${what}`, () => {
      const [told, ...more] = compareLife(life, before, now, []);
      assert.match(told ?? "", says);
      assert.deepEqual(more, []);
    });

  test("tells of a wanted difference that is none any more, and of one that came otherwise", () => {
    assert.match(compareLife(life, before, same, [meant])[0] ?? "", /take it out of wanted-differences/);
    const otherwise = { ...same, "10.5.0.2": ["T9 Reset", "T9 Reset"] };
    assert.match(compareLife(life, before, otherwise, [meant])[0] ?? "", /wanted: +nothing\n +now: +T9 Reset, T9 Reset/);
  });
});
