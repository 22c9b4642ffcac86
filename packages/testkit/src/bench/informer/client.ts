// The measured side of the informer benchmark: one process that lists, caches and follows, and then parses the same lines bare.
import { readFileSync } from "node:fs";
import { systemRandom, systemTimers } from "@talos-operator/adapters";
import { createInformer, createKubeClient } from "@talos-operator/kube-runtime";
import { createHttpsTransport } from "@talos-operator/kube-runtime/https";
import { createChangingThing, thingType } from "./objects.ts";

/** What the client reports, as one line of JSON. */
export interface InformerFigures {
  readonly listMs: number;
  readonly startMib: number;
  readonly listPeakMib: number;
  readonly peakMib: number;
  readonly eventsPerSecond: number;
  readonly eventsCpuPerSecond: number;
  readonly bareParsesPerSecond: number;
  readonly bareParsesCpuPerSecond: number;
  /** The least that a cache must do with the same lines: decode, parse, keep in the place of the object before. */
  readonly keptParsesPerSecond: number;
  readonly keptParsesCpuPerSecond: number;
  readonly connections: number;
}

const [server = "", caFile = "", listBy = "stream", eventsText = "0"] = process.argv.slice(2);
const events = Number(eventsText);
const peakMib = (): number => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024;

const transport = createHttpsTransport({ server, ca: readFileSync(caFile, "utf8") });
const client = createKubeClient(transport, { timers: systemTimers, random: systemRandom });
const informer = createInformer({
  client,
  type: thingType,
  timers: systemTimers,
  random: systemRandom,
  listBy: listBy === "pages" ? "pages" : "stream",
});
const stop = new AbortController();
const startMib = peakMib();

let seen = 0;
let firstAt = 0;
let cpuAtFirst = process.cpuUsage();
const allSeen = Promise.withResolvers<void>();
const startedAt = performance.now();
const running = informer.run(stop.signal);
await informer.waitForSync({ timeoutMs: 120_000 });
const listMs = performance.now() - startedAt;
const listPeakMib = peakMib();
informer.subscribe((delta) => {
  if (delta.type !== "updated") return;
  if (seen === 0) {
    firstAt = performance.now();
    cpuAtFirst = process.cpuUsage();
  }
  seen += 1;
  if (seen === events) allSeen.resolve();
});
await allSeen.promise;
const seconds = (performance.now() - firstAt) / 1000;
const cpu = process.cpuUsage(cpuAtFirst);
const { body } = await transport.send({ method: "GET", path: "/connections" });
stop.abort();
await running;
const peak = peakMib();

const figures: InformerFigures = {
  listMs,
  startMib,
  listPeakMib,
  peakMib: peak,
  eventsPerSecond: (events - 1) / seconds,
  eventsCpuPerSecond: (events - 1) / ((cpu.user + cpu.system) / 1e6),
  ...bareParses(),
  ...keptParses(),
  connections: (body as { readonly connections: number }).connections,
};
process.stdout.write(`${JSON.stringify(figures)}\n`);
transport.close();

function lines(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `{"type":"MODIFIED","object":${createChangingThing(index).next("100000000000")}}`);
}

/** Runs a batch again and again for a while; `perSecond` of wall time and of processor time. */
function measured(batch: () => number): { readonly wall: number; readonly processor: number } {
  const begin = performance.now();
  const cpuAtBegin = process.cpuUsage();
  let done = 0;
  while (performance.now() - begin < 1_500) done += batch();
  const used = process.cpuUsage(cpuAtBegin);
  return { wall: done / ((performance.now() - begin) / 1000), processor: done / ((used.user + used.system) / 1e6) };
}

/** The same lines, JSON.parse and nothing else. */
function bareParses(): Pick<InformerFigures, "bareParsesPerSecond" | "bareParsesCpuPerSecond"> {
  const texts = lines(500);
  let kept: unknown;
  const { wall, processor } = measured(() => {
    for (const text of texts) kept = JSON.parse(text) as unknown;
    return texts.length;
  });
  if (kept === undefined) throw new Error("nothing was parsed");
  return { bareParsesPerSecond: wall, bareParsesCpuPerSecond: processor };
}

/** The informer has stopped, its cache of as many objects stays in memory beside this one. */
function keptParses(): Pick<InformerFigures, "keptParsesPerSecond" | "keptParsesCpuPerSecond"> {
  const buffers = lines(500).map((text) => Buffer.from(text));
  const kept = new Map<number, unknown>();
  let next = 0;
  const { wall, processor } = measured(() => {
    for (const buffer of buffers) kept.set(next++ % 500, (JSON.parse(buffer.toString("utf8")) as { readonly object: unknown }).object);
    return buffers.length;
  });
  if (kept.size === 0) throw new Error("nothing was kept");
  return { keptParsesPerSecond: wall, keptParsesCpuPerSecond: processor };
}
