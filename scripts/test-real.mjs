// `npm run test:real [-- FILE...]` runs real tests: our client against a genuine kube-apiserver, genuine kubectl, helm and talosctl against our servers.
// Builds the parts that the files declare (scripts/parts.mjs). --build-only builds them and runs nothing.
import { globSync, rmSync } from "node:fs";
import { relative, resolve } from "node:path";
import { endAtSignals, signalGroup, start } from "./children.mjs";
import { ensureParts, linkParts, partsOf, partsOfAll } from "./parts.mjs";

const asked = process.argv.slice(2).filter((word) => word !== "--build-only");
const root = resolve(import.meta.dirname, "..");
process.chdir(root);
// As they are called here, however they were typed: what runs alone is told by its folder.
const given = asked.map((file) => relative(root, resolve(root, file)));
const files = given.length > 0 ? given : globSync("{test,packages/*/src}/**/*.real-test.ts").toSorted();
endAtSignals(10_000);
let parts;
try {
  parts = await ensureParts(partsOfAll(files));
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
if (process.argv.includes("--build-only")) process.exit(0);

/** Bounds a file that hangs. It is no measure. */
const FILE_MS = 3_600_000;

/** Runs one file in a process of its own, and prints what it said when it is over. */
function play(file) {
  const began = Date.now();
  const folder = linkParts(file, parts);
  const child = start(process.execPath, ["--test", "--test-timeout=1200000", "--test-force-exit", "--test-reporter=spec", file], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, TALOS_OPERATOR_TOOLS: folder },
  });
  // A test that loops without waiting hears no limit of the runner, and servers of a test that failed would compute beside the next file.
  const killAll = () => signalGroup(child.pid, "SIGKILL");
  const tooLate = setTimeout(killAll, FILE_MS);
  child.on("exit", killAll);
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => printed.push(chunk));
  return new Promise((resolve) => {
    child.on("close", (code) => {
      clearTimeout(tooLate);
      rmSync(folder, { recursive: true });
      process.stdout.write(`\n--- ${file}\n`);
      process.stdout.write(Buffer.concat(printed));
      resolve({ file, code: code ?? 1, seconds: Math.round((Date.now() - began) / 1000) });
    });
  });
}

/** Files with a genuine kube-apiserver and those of test/, whose machines have the same addresses, run alone: nothing computes beside them. */
const isAlone = (file) => file.startsWith("test/") || partsOf(file).includes("kube-apiserver");
const results = [];
for (const file of files.filter(isAlone)) results.push(await play(file));
const waiting = files.filter((file) => !isAlone(file));
const lane = async () => {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) results.push(await play(file));
};
await Promise.all([lane(), lane()]);
for (const { file, code, seconds } of results)
  process.stdout.write(`${String(seconds).padStart(5)} s  ${code === 0 ? "passed" : "FAILED"}  ${file}\n`);
process.exit(results.every(({ code }) => code === 0) ? 0 : 1);
