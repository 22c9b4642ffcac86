import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createX509Keys } from "@talos-operator/adapters";
import { build } from "esbuild";
import { line } from "../report.ts";
import type { InformerFigures } from "./client.ts";
import { type Change, OBJECTS } from "./objects.ts";

/** The heap flags that the manager gives itself. */
const SHIPPED_FLAGS = ["--max-semi-space-size=1", "--semi-space-growth-factor=1", "--heap-growing-percent=25"];

/** One run: how the list is asked for, then how many objects change, one after the other, and what of each. */
interface Run {
  readonly listBy: "stream" | "pages";
  readonly changing: number;
  readonly change: Change;
}

/** The last two are the worst for a client that compares an object with what it was before: more objects than it remembers, and nothing alike. */
const RUNS: readonly Run[] = [
  { listBy: "stream", changing: 500, change: "status" },
  { listBy: "pages", changing: 500, change: "status" },
  { listBy: "stream", changing: OBJECTS, change: "status" },
  { listBy: "stream", changing: 500, change: "everything" },
];

/** An informer over TLS in a process of its own, bundled and with the manager's heap flags, against a server that only copies bytes. */
export async function benchInformer(events: number, options: { readonly nodeOptions: readonly string[] }): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "talos-operator-bench-"));
  try {
    const { ca, key, certificate } = await writeCertificates(folder);
    const bundled = join(folder, "client.mjs");
    await build({
      entryPoints: [fileURLToPath(new URL("./client.ts", import.meta.url))],
      outfile: bundled,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node24",
      minify: true,
      logLevel: "error",
      external: ["@kubernetes/client-node"],
      banner: {
        js: 'import { createRequire as __benchCreateRequire } from "node:module"; const require = __benchCreateRequire(import.meta.url);',
      },
    });
    for (const run of RUNS) {
      const feed = [key, certificate, String(events), String(run.changing), run.change];
      const feeder = spawn(process.execPath, [fileURLToPath(new URL("./feeder.ts", import.meta.url)), ...feed], {
        stdio: ["ignore", "ignore", "pipe"],
      });
      try {
        const port = await untilMatch(feeder.stderr, /feeder at (\d+)/);
        const figures = await measure([
          ...SHIPPED_FLAGS,
          ...options.nodeOptions,
          bundled,
          `https://127.0.0.1:${port}`,
          ca,
          run.listBy,
          String(events),
        ]);
        process.stdout.write(report(run, events, figures));
      } finally {
        feeder.kill();
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function report({ listBy, changing, change }: Run, events: number, figures: InformerFigures): string {
  const share = figures.eventsPerSecond / figures.bareParsesPerSecond;
  const kept = figures.eventsCpuPerSecond / figures.keptParsesCpuPerSecond;
  const cpuShare = figures.eventsCpuPerSecond / figures.bareParsesCpuPerSecond;
  return [
    `informer, ${OBJECTS} objects of 3 KB over TLS, list by ${listBy}, then ${events} events as fast as they are read: ${change} of ${changing} objects in turn`,
    line("list and cache", `${(figures.listMs / 1000).toFixed(2)} s`),
    line("peak memory until then (at the start)", `${figures.listPeakMib.toFixed(0)} MiB (${figures.startMib.toFixed(0)})`),
    line("peak memory with the events", `${figures.peakMib.toFixed(0)} MiB`),
    line("events", `${figures.eventsPerSecond.toFixed(0)}/s, ${figures.eventsCpuPerSecond.toFixed(0)} per CPU-s`),
    line(
      "bare JSON.parse of the same lines",
      `${figures.bareParsesPerSecond.toFixed(0)}/s, ${figures.bareParsesCpuPerSecond.toFixed(0)} per CPU-s`,
    ),
    line("events reach of that", `${share.toFixed(2)}, by processor time ${cpuShare.toFixed(2)}`),
    line(
      "JSON.parse of their bytes, each kept for another",
      `${figures.keptParsesPerSecond.toFixed(0)}/s, ${figures.keptParsesCpuPerSecond.toFixed(0)} per CPU-s; events reach ${kept.toFixed(2)} of that`,
    ),
    line("connections to the server", String(figures.connections)),
    "",
  ].join("\n");
}

async function writeCertificates(folder: string): Promise<{ readonly ca: string; readonly key: string; readonly certificate: string }> {
  const keys = createX509Keys();
  const notBefore = Date.now() - 3_600_000;
  const authority = await keys.createAuthority({ kind: "p256", organization: "bench", notBefore });
  const pair = await keys.signCertificate(authority, {
    usage: "server",
    commonName: "bench",
    notBefore,
    lifetimeMs: 86_400_000,
    dnsNames: ["localhost"],
    ipAddresses: ["127.0.0.1"],
  });
  const paths = { ca: join(folder, "ca.crt"), key: join(folder, "tls.key"), certificate: join(folder, "tls.crt") };
  writeFileSync(paths.ca, authority.certificate);
  writeFileSync(paths.key, pair.key, { mode: 0o600 });
  writeFileSync(paths.certificate, pair.certificate);
  return paths;
}

async function measure(args: readonly string[]): Promise<InformerFigures> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const text = await untilMatch(child.stdout, /(\{.*\})\n/);
  return JSON.parse(text) as InformerFigures;
}

async function untilMatch(stream: NodeJS.ReadableStream, pattern: RegExp): Promise<string> {
  let text = "";
  for await (const chunk of stream) {
    text += String(chunk);
    const found = pattern.exec(text)?.[1];
    if (found !== undefined) return found;
  }
  throw new Error(`a process of the benchmark ended early: ${text}`);
}
