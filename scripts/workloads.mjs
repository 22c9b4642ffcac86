// The workloads of the simulation, by name.
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

/** @throws what the simulation says when it cannot list them */
export function allWorkloads() {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [resolve(import.meta.dirname, "../packages/testkit/src/simulate/main.ts"), "--workload", "list", "--json"],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout).map(({ name }) => name);
}
