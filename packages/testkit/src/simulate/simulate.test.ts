import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Report } from "./report.ts";

const main = fileURLToPath(new URL("main.ts", import.meta.url));

/** Runs the command as a person would: a planted fault must not stay in this process. */
async function simulate(...args: string[]): Promise<{ readonly report: Report; readonly code: number }> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [main, "--json", ...args], { maxBuffer: 2 ** 26 });
    return { report: JSON.parse(stdout) as Report, code: 0 };
  } catch (error) {
    const { stdout, code } = error as { stdout: string; code: number };
    return { report: JSON.parse(stdout) as Report, code };
  }
}

describe("simulated lives", () => {
  it("keep every invariant and reach Ready, whatever crashes, and leave the same trace for the same seed", async () => {
    const [first, second] = await Promise.all([simulate("--seed", "3", "--runs", "3"), simulate("--seed", "3", "--runs", "3")]);
    assert.deepEqual(first.report.violations, []);
    assert.equal(first.report.reachedGoal, 3);
    assert.equal(first.code, 0);
    assert.equal(second.report.traceHash, first.report.traceHash);
  });

  for (const [workload, trouble] of [
    ["delete", "second-cluster"],
    ["scale-workers", "names-taken"],
    ["compose", "paused-by-person"],
    ["delete", "record-lost"],
  ] as const)
    it(`play the trouble ${trouble} in a life of ${workload}`, async () => {
      const { report, code } = await simulate("--seed", "94001", "--runs", "1", "--workload", workload, "--trouble", trouble);
      assert.deepEqual(report.violations, []);
      assert.equal(code, 0);
    });
});
