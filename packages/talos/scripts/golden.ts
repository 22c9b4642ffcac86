/**
 * Runs every case of a folder of recorded answers of the genuine Talos libraries and says what differs.
 *
 *   node packages/talos/scripts/golden.ts DIR [--json]
 *
 * Exits 1 when a case fails. Cases that nothing in this version answers are counted apart.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createX509Keys, inspectCertificate } from "@talos-operator/adapters";
import { runGoldens, type GoldenReport } from "../src/golden/run.ts";

const [dir] = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
if (dir === undefined) {
  process.stderr.write("usage: golden DIR [--json]\n");
  process.exit(2);
}
const keys = createX509Keys();
const reports: GoldenReport[] = [];
for (const kind of readdirSync(dir).toSorted((a, b) => a.localeCompare(b))) {
  if (!existsSync(join(dir, kind, "index.json"))) continue;
  reports.push(
    await runGoldens({
      kind,
      readFile: (path) => readFileSync(join(dir, kind, path), "utf8"),
      keys,
      inspect: inspectCertificate,
      now: Date.parse("2026-03-01T12:00:00Z"),
    }),
  );
}
if (process.argv.includes("--json")) process.stdout.write(`${JSON.stringify({ kinds: reports }, undefined, 2)}\n`);
else {
  for (const { kind, passed, failed, notRun, differences } of reports) {
    process.stdout.write(
      `${kind.padEnd(18)} ${String(passed).padStart(4)} passed ${String(failed).padStart(4)} failed ${String(notRun).padStart(4)} not run\n`,
    );
    for (const { id, difference } of differences) process.stdout.write(`  ${id}: ${difference}\n`);
  }
}
process.exitCode = reports.some(({ failed }) => failed > 0) ? 1 : 0;
