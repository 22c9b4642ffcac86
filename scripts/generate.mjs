// Regenerates every generated file. CI runs it and fails when anything changed.
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";

const generators = [...globSync("packages/*/scripts/generate.ts").toSorted(), "scripts/error-pages.mjs"];
for (const generator of generators) {
  process.stderr.write(`${generator}\n`);
  const result = spawnSync(process.execPath, [generator], { stdio: "inherit" });
  if (result.status !== 0) process.exit(result.status ?? 1);
}
