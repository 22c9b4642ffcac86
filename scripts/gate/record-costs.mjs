// Records in costs.json what each file of stories costs in processor seconds, start included. The gate chooses by these figures, never by measured ones.
// `node scripts/launch/run.cjs scripts/gate/record-costs.mjs [FILE...]`: all files of stories, or these.
import { spawn } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

process.chdir(resolve(import.meta.dirname, "../.."));
const path = "scripts/gate/costs.json";
const asked = process.argv.slice(2);
const all = globSync("packages/testkit/src/stories/**/*.test.ts").map((file) => file.replaceAll("\\", "/"));
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

const waiting = asked.length > 0 ? asked : [...all];
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
process.stdout.write(
  `${all.length} files cost ${Math.round(Object.values(costs).reduce((sum, cost) => sum + cost, 0))} processor seconds\n`,
);
