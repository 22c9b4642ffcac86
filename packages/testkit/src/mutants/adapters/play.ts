import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { compiledOnce } from "../../simulate/compiled.ts";
import type { Report } from "../../simulate/report.ts";
import type { Mutant } from "../mutant.ts";
import { HANGS } from "./end-hanging-test.ts";

/** What became of one planted fault. */
export interface Outcome {
  readonly mutant: Mutant;
  readonly isCaught: boolean;
  /** Invariants that were broken, or tests that failed. */
  readonly by: readonly string[];
  /** Why it was not caught, where that is known. */
  readonly detail: string;
  readonly seconds: number;
}

const packages = fileURLToPath(new URL("../../../../", import.meta.url));
const simulation = fileURLToPath(new URL("../../simulate/main.ts", import.meta.url));
const planter = new URL("plant-from-env.ts", import.meta.url).href;

/** Edits whose text does not occur exactly once any more. */
export function staleEdits({ edits }: Mutant): readonly string[] {
  return edits.flatMap(({ file, find }) => {
    const count = readFileSync(`${packages}${file}`, "utf8").split(find).length - 1;
    return count === 1 ? [] : [`"${find.slice(0, 60)}" occurs ${count} times in ${file}`];
  });
}

/** A test that takes this long runs in a circle, on a busy machine too: the longest takes a fiftieth. Milliseconds. */
const ENDLESS_AFTER_MS = 600_000;

/** Plays one in processes of its own: a planted fault stays in the process, and in those that it starts. */
export async function play(mutant: Mutant): Promise<Outcome> {
  const begunAt = Date.now();
  const outcome = (isCaught: boolean, by: readonly string[], detail: string): Outcome => ({
    mutant,
    isCaught,
    by,
    detail,
    seconds: Math.round((Date.now() - begunAt) / 1000),
  });
  const [stale] = staleEdits(mutant);
  if (stale !== undefined) return outcome(false, [], `bring the mutant up to date: ${stale}`);
  if (mutant.tests === undefined) {
    const args = ["--seed", "1", "--runs", String(mutant.runs ?? 40), "--mutant", mutant.name, "--until-violation", "--json"];
    const { stdout, stderr } = await runNode(["--max-semi-space-size=64", simulation, ...args], {}, 2 * ENDLESS_AFTER_MS);
    const report = stdout === "" ? undefined : (JSON.parse(stdout) as Report);
    const by = [...new Set(report?.violations.map(({ invariant }) => invariant))];
    return outcome(by.length > 0, by, report === undefined ? stderr.slice(0, 300) : "");
  }
  for (const file of mutant.tests) {
    // A fault may make a test wait for ever: that is noticed as well, and before the whole run is stopped.
    const args = ["--test-reporter=tap", `--test-timeout=${ENDLESS_AFTER_MS}`, `${packages}${file}`];
    const env = { TALOS_OPERATOR_MUTANT: mutant.name, NODE_OPTIONS: `${process.env["NODE_OPTIONS"] ?? ""} --import=${planter}` };
    const { stdout, code } = await runNode(args, env, 2 * ENDLESS_AFTER_MS);
    const failed = [...stdout.matchAll(/^\s*not ok \d+ - (.*)$/gm)].map(([, name = ""]) => name);
    if (code === HANGS) return outcome(true, ["a test waits for ever"], file);
    // A file that cannot even be loaded fails as a whole, and proves nothing.
    if (code !== 0 && /^\s*ok \d+ - /m.test(stdout) && failed.length > 0) return outcome(true, failed.slice(0, 1), file);
    if (code !== 0) return outcome(false, [], `${file} did not run: ${stdout.slice(-300)}`);
  }
  return outcome(false, [], `no test fails: ${mutant.tests.join(", ")}`);
}

function runNode(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  timeout: number,
): Promise<{ readonly stdout: string; readonly stderr: string; readonly code: number }> {
  return new Promise((resolve) => {
    const options = { maxBuffer: 2 ** 26, timeout, env: { ...compiledOnce, ...process.env, ...env, NODE_TEST_CONTEXT: "" } };
    // A process that is stopped has no exit code.
    execFile(process.execPath, args, options, (failed, stdout, stderr) =>
      resolve({ stdout, stderr, code: failed === null ? 0 : typeof failed.code === "number" ? failed.code : 1 }),
    );
  });
}
