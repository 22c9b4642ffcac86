// Every linter, one after the other; the first that complains ends it.
import { spawnSync } from "node:child_process";

const steps = [
  ["node_modules/oxlint/bin/oxlint", "--type-aware", "--deny-warnings"],
  ["scripts/lint-ports.mjs"],
  ["scripts/lint-imports.mjs"],
  ["scripts/lint-functions.mjs"],
  ["node_modules/prettier/bin/prettier.cjs", "--check", ".", "--log-level", "warn"],
  ["node_modules/knip/bin/knip.js", "--exclude", "types", "--no-config-hints"],
];
for (const step of steps) {
  const { status } = spawnSync(process.execPath, step, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
