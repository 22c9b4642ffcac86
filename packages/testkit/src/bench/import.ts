import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { line } from "./report.ts";

const packages = fileURLToPath(new URL("../../../../packages", import.meta.url));

/** What is imported, by what a program writes. */
const entries = [
  ["@talos-operator/talos", "talos/src/index.ts"],
  ["@talos-operator/talos/client", "talos/src/client.ts"],
  ["@talos-operator/talos/grpc", "talos/src/adapters/index.ts"],
] as const;

interface ImportFigures {
  readonly ms: number;
  readonly cpuMs: number;
  readonly rssMib: number;
}

/**
 * What importing the Talos library costs a process that has nothing else: built to JavaScript first, because stripping types of the sources costs
 * ten times as much and nobody ships that. Medians of `count` fresh processes.
 */
export async function benchImport(count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "bench-import-"));
  try {
    process.stdout.write(`import, median of ${count} processes (aim for what needs no machine: 60 ms, 15 MiB)\n`);
    for (const [name, source] of entries) {
      const file = join(folder, `${name.replaceAll("/", "-")}.mjs`);
      await build({
        entryPoints: [join(packages, source)],
        outfile: file,
        bundle: true,
        format: "esm",
        platform: "node",
        target: "node24",
        logLevel: "error",
        banner: { js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);' },
      });
      const figures = Array.from({ length: count }, () => importOnce(folder, file));
      const median = (of: (one: ImportFigures) => number): number => figures.map(of).toSorted((a, b) => a - b)[Math.floor(count / 2)] ?? 0;
      const ms = `${median((one) => one.ms).toFixed(0)} ms, ${median((one) => one.cpuMs).toFixed(0)} CPU-ms`;
      process.stdout.write(`${line(name, `${ms}, ${median((one) => one.rssMib).toFixed(1)} MiB`)}\n`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function importOnce(folder: string, file: string): ImportFigures {
  const script = join(folder, "once.mjs");
  writeFileSync(
    script,
    `const [start, rss, cpu] = [performance.now(), process.memoryUsage.rss(), process.cpuUsage()];
await import(${JSON.stringify(file)});
const { user, system } = process.cpuUsage(cpu);
console.log(JSON.stringify({ ms: performance.now() - start, cpuMs: (user + system) / 1000, rssMib: (process.memoryUsage.rss() - rss) / 2 ** 20 }));
`,
  );
  return JSON.parse(execFileSync(process.execPath, [script], { encoding: "utf8" })) as ImportFigures;
}
