import { execFile } from "node:child_process";
import { appendFileSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { play, type Outcome } from "../../adapters/play.ts";
import { compiledOnce } from "../../../simulate/compiled.ts";
import { executedIn, placeOf, type Coverage } from "../executed.ts";
import { mutantOf, type IndependentFault } from "../fault.ts";

/** One test file: how long it takes, and whose faulted text it runs. */
interface Covering {
  readonly file: string;
  readonly seconds: number;
  readonly hit: readonly string[];
}

const root = fileURLToPath(new URL("../../../../../../", import.meta.url));
/** Outside of the tree: it is worth what the tree was when it was made. */
const mapPath = join(tmpdir(), "talos-operator-covering.jsonl");
/** No more of tests for one fault; the cheapest come first. */
const BUDGET_SECONDS = 150;

/** Looks for a test file that fails with the fault, among those that run its text. */
export async function search(fault: IndependentFault, map: readonly Covering[]): Promise<Outcome & { readonly file?: string }> {
  const tests = map.filter(({ hit }) => hit.includes(fault.name)).toSorted((a, b) => a.seconds - b.seconds);
  let left = BUDGET_SECONDS;
  let tried = 0;
  for (const { file, seconds } of tests) {
    if (seconds > left) break;
    const outcome = await play(mutantOf(fault, [file]));
    if (outcome.isCaught) return { ...outcome, file };
    left -= Math.max(seconds, outcome.seconds);
    tried += 1;
  }
  const detail = `${tried} of ${tests.length} test files that run it were played`;
  return { mutant: mutantOf(fault), isCaught: false, by: [], detail, seconds: BUDGET_SECONDS - left };
}

/** Which test file runs which fault's text. What is known of before is not played again: remove the file in the folder for temporary files to begin anew. */
export async function readCovering(faults: readonly IndependentFault[], tell: (line: string) => void): Promise<readonly Covering[]> {
  const known = readKnown();
  const places = faults.flatMap((fault) => placeOf(fault, readFileSync(join(root, fault.file), "utf8")) ?? []);
  const missing = globSync("packages/*/src/**/*.test.ts", { cwd: root }).filter(
    // What plants faults itself fails with one for reasons of its own.
    (file) => !file.includes("/mutants/") && !known.some((one) => one.file === file),
  );
  const found: Covering[] = [];
  for (const file of missing.toSorted()) {
    const folder = mkdtempSync(join(tmpdir(), "talos-operator-coverage-"));
    const begunAt = Date.now();
    await runTest(file, folder);
    const seconds = (Date.now() - begunAt) / 1000;
    const hit = readdirSync(folder).flatMap((name) => executedIn(JSON.parse(readFileSync(join(folder, name), "utf8")) as Coverage, places));
    rmSync(folder, { recursive: true });
    const covering = { file, seconds, hit: [...new Set(hit)] };
    appendFileSync(mapPath, `${JSON.stringify(covering)}\n`);
    tell(`${file} runs ${covering.hit.length} of them (${seconds.toFixed(0)} s)`);
    found.push(covering);
  }
  return [...known, ...found];
}

function readKnown(): readonly Covering[] {
  try {
    return readFileSync(mapPath, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Covering);
  } catch (thrown) {
    // Nobody made it yet.
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw thrown;
  }
}

/** Whether it passes matters to nobody here. */
function runTest(file: string, folder: string): Promise<void> {
  return new Promise((resolve) => {
    const env = { ...compiledOnce, ...process.env, NODE_V8_COVERAGE: folder, NODE_TEST_CONTEXT: "" };
    execFile(process.execPath, [join(root, file)], { env, timeout: 240_000, maxBuffer: 2 ** 26 }, () => resolve());
  });
}
