// Records in costs.json what a file costs: stories in processor seconds, start included; real tests in the seconds that the last night on this machine took.
// The gate chooses by these figures, never by measured ones.
// `node scripts/launch/run.cjs scripts/gate/record-costs.mjs [--real | FILE...]`: all files of stories, or these, or the real tests of hack/results/night.json.
import { spawn } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

process.chdir(resolve(import.meta.dirname, "../.."));
const path = "scripts/gate/costs.json";
const wantsReal = process.argv[2] === "--real";
const asked = process.argv.slice(2);
const stories = globSync("packages/testkit/src/stories/**/*.test.ts").map((file) => file.replaceAll("\\", "/"));
const all = [...stories, ...globSync("{test,packages/*/src}/**/*.real-test.ts").map((file) => file.replaceAll("\\", "/"))];
const known = JSON.parse(readFileSync(path, "utf8"));
const atExit = `data:text/javascript,process.on("exit",()=>{const{user,system}=process.cpuUsage();console.error("cpu "+(user+system))})`;

function costOf(file) {
  const child = spawn(process.execPath, [`--import=${atExit}`, `--import=${resolve("scripts/untracked-promises.mjs")}`, file], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { NODE_COMPILE_CACHE: "node_modules/.cache/compiled", ...process.env },
  });
  let printed = "";
  child.stderr.on("data", (chunk) => (printed += chunk));
  return new Promise((done, fail) => {
    child.on("close", (code) => {
      const [, microseconds] = /cpu (\d+)/.exec(printed) ?? [];
      if (code === 0 && microseconds !== undefined) done(Math.round(Number(microseconds) / 100_000) / 10);
      else fail(new Error(`${file} ended with exit code ${code}: ${printed.slice(-500)}`));
    });
  });
}

if (wantsReal)
  for (const { part, command, seconds, verdict } of JSON.parse(readFileSync("hack/results/night.json", "utf8")).units)
    if (part === "real" && verdict === "passed") known[command.split(" ").at(-1)] = seconds;
const waiting = wantsReal ? [] : asked.length > 0 ? asked : [...stories];
const lane = async () => {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) known[file] = await costOf(file);
};
await Promise.all([lane(), lane()]);
const costs = Object.fromEntries(
  Object.entries(known)
    .filter(([file]) => all.includes(file))
    .toSorted(([a], [b]) => (a < b ? -1 : 1)),
);
writeFileSync(path, `${JSON.stringify(costs, undefined, 2)}\n`);
process.stdout.write(`${Object.keys(costs).length} of ${all.length} files are recorded\n`);
