import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createX509Keys, systemClock, systemRandom } from "@talos-operator/adapters";
import { generateSecretsBundle, printSecretsBundle } from "@talos-operator/talos";
import { line } from "./report.ts";

const goSource = fileURLToPath(new URL("../../../../hack/bench-config", import.meta.url));
const ours = fileURLToPath(new URL("config-run.ts", import.meta.url));
const inputs = fileURLToPath(new URL("config-inputs.json", import.meta.url));

/** What either side prints. */
interface Figures {
  readonly configs: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly bytes: number;
  readonly sha256: string;
  readonly peakRssKib: number;
}

/**
 * Generates and patches the same configs with ours and with the Go machinery, each in a process on one core, and compares every byte by hash.
 * The ratio is of processor time: what else runs on the machine does not count. Throws where the bytes differ.
 */
export async function benchConfig(count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "bench-config-"));
  try {
    const bundle = join(folder, "secrets.yaml");
    const keys = createX509Keys();
    writeFileSync(
      bundle,
      printSecretsBundle(await generateSecretsBundle({ contract: "1.13", clock: systemClock, random: systemRandom, keys })),
      { mode: 0o600 },
    );
    const args = [inputs, bundle, String(count)];
    const go = buildGo();
    process.stdout.write(`${count} configs, 5 patch documents each, one core\n`);
    // Alternating, so that a busy minute meets both.
    const rounds = [0, 1, 2].map(() => ({
      ours: run(process.execPath, [ours, ...args]),
      go: go === undefined ? undefined : run(go, args),
    }));
    const mine = medianOf(rounds.map((round) => round.ours));
    process.stdout.write(`${figureLine("this library", mine)}\n`);
    const theirs = rounds.flatMap((round) => round.go ?? []);
    if (theirs.length === 0) {
      process.stdout.write(`${line("Go machinery", "not run: there is no go on this machine")}\n`);
      return;
    }
    const reference = medianOf(theirs);
    process.stdout.write(`${figureLine("Go machinery v1.13.9", reference)}\n`);
    process.stdout.write(`${line("ratio (aim 1.0, at least 0.5)", (rate(mine) / rate(reference)).toFixed(2))}\n`);
    if (mine.sha256 !== reference.sha256) throw new Error("the configs differ: compare single ones with packages/talos/scripts/golden.ts");
    process.stdout.write(`${line("bytes", `${mine.bytes}, the same on both sides`)}\n`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The program of the Go machinery, built anew when its source says so; `undefined` without Go. */
function buildGo(): string | undefined {
  if (spawnSync("go", ["version"], { stdio: "ignore" }).error !== undefined) return undefined;
  const folder = join(homedir(), ".cache", "talos-operator", "bench");
  mkdirSync(folder, { recursive: true });
  const program = join(folder, "bench-config");
  if (!existsSync(program)) process.stderr.write("building the Go side, which takes minutes the first time\n");
  execFileSync("go", ["build", "-trimpath", "-o", program, "."], { cwd: goSource, stdio: ["ignore", "inherit", "inherit"] });
  return program;
}

function run(program: string, args: readonly string[]): Figures {
  const isPinnable = spawnSync("taskset", ["--version"], { stdio: "ignore" }).status === 0;
  const [command, before] = isPinnable ? ["taskset", ["-c", "0", program]] : [program, []];
  return JSON.parse(execFileSync(command, [...before, ...args], { encoding: "utf8" })) as Figures;
}

function medianOf(figures: readonly Figures[]): Figures {
  return figures.toSorted((a, b) => a.cpuSeconds - b.cpuSeconds)[Math.floor(figures.length / 2)] as Figures;
}

function rate({ configs, cpuSeconds }: Figures): number {
  return configs / cpuSeconds;
}

function figureLine(what: string, figures: Figures): string {
  return line(
    what,
    `${rate(figures).toFixed(0)} configs per CPU-s, ${(figures.configs / figures.seconds).toFixed(0)}/s as it ran, peak ${(figures.peakRssKib / 1024).toFixed(0)} MiB`,
  );
}
