import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom, systemTimers } from "@talos-operator/adapters";
import { createApiServer } from "@talos-operator/apiserver";
import { createSqliteStore } from "@talos-operator/apiserver/https";
import { createHttpsTransport } from "@talos-operator/kube-runtime/https";
import { figuresOf } from "../figures.ts";
import { line } from "../report.ts";
import { storageWritesPerSecond, validatedWritesPerSecond } from "./in-process.ts";
import { pace, saturate } from "./load.ts";
import type { Target } from "./load.ts";
import { benchCrd, machine, machinesPath } from "./objects.ts";
import { startEmbedded, startGenuine } from "./servers.ts";
import type { BenchServer } from "./servers.ts";

/** What one server showed over TLS. */
interface Figures {
  readonly creates: number;
  readonly gets: number;
  /** Processor time of the server for one request, in microseconds: it says the same on a busy machine. */
  readonly createCpuUs: number;
  readonly getCpuUs: number;
  readonly p99Ms: number;
}

/**
 * The embedded API: its storage layer and request path in this process, its process over TLS with the data on disk, its start from
 * 10,000 objects; beside it, where `TALOS_OPERATOR_TOOLS` names them, the genuine kube-apiserver and etcd under the same load.
 *
 * @param count creates over TLS; ten times as many gets
 */
export async function benchApiserver(
  count: number,
  options: { readonly bundled: boolean; readonly nodeOptions: readonly string[] },
): Promise<void> {
  const text: string[] = [`embedded API, objects of ${JSON.stringify(machine("m")).length} bytes`];
  text.push(line("storage layer in memory", `${rate(storageWritesPerSecond())} writes`));
  text.push(line("validated creates in process", rate(await validatedWritesPerSecond())));
  text.push(line("start from 10,000 objects on disk", await startFromDisk()));
  const seen = new Map<string, Figures>();
  const starts: readonly (() => Promise<BenchServer | undefined>)[] = [
    () => startEmbedded({ durability: "process-crash", ...options }),
    () => startEmbedded({ durability: "power-loss", ...options }),
    startGenuine,
  ];
  for (const start of starts) {
    await using server = await start();
    if (server === undefined) continue;
    process.stderr.write(`${server.name} ...\n`);
    const figures = await measure(server, count);
    seen.set(server.name, figures);
    text.push(`  ${server.name}, over TLS`);
    text.push(line("  creates", `${rate(figures.creates)}, ${figures.createCpuUs.toFixed(0)} µs of processor time each`));
    text.push(line("  gets", `${rate(figures.gets)}, ${figures.getCpuUs.toFixed(0)} µs each`));
    text.push(line("  latency of creates at 200/s, p99", `${figures.p99Ms.toFixed(1)} ms`));
  }
  const [ours, genuine] = [seen.get("embedded"), seen.get("genuine")];
  if (ours !== undefined && genuine !== undefined) {
    const times = (a: number, b: number): string => `${(a / b).toFixed(2)} ×`;
    text.push("  embedded : genuine");
    text.push(line("  creates", `${times(ours.creates, genuine.creates)}, processor time ${times(ours.createCpuUs, genuine.createCpuUs)}`));
    text.push(line("  gets", `${times(ours.gets, genuine.gets)}, processor time ${times(ours.getCpuUs, genuine.getCpuUs)}`));
    text.push(line("  latency at 200/s", times(ours.p99Ms, genuine.p99Ms)));
  } else {
    text.push("  no genuine server: TALOS_OPERATOR_TOOLS names no folder (hack/tools/build.sh builds etcd and kube-apiserver)");
  }
  process.stdout.write(`${text.join("\n")}\n`);
}

async function measure(server: BenchServer, count: number): Promise<Figures> {
  const { target } = server;
  await installKind(target);
  const create = (prefix: string) => (index: number) => ({
    method: "POST" as const,
    path: machinesPath,
    body: JSON.stringify(machine(`${prefix}-${index}`)),
  });
  const many = { connections: 32 };
  await saturate(target, { ...many, total: Math.ceil(count / 4), request: create("warm") });
  const cpu = [server.cpuSeconds()];
  const creates = await saturate(target, { ...many, total: count, request: create("m") });
  cpu.push(server.cpuSeconds());
  const get = (index: number) => ({ method: "GET" as const, path: `${machinesPath}/m-${index % count}` });
  await saturate(target, { ...many, total: count, request: get });
  cpu.push(server.cpuSeconds());
  const gets = await saturate(target, { ...many, total: count * 10, request: get });
  cpu.push(server.cpuSeconds());
  const paced = await pace(target, { rate: 200, seconds: 10, request: create("p") });
  const [beforeCreates = 0, afterCreates = 0, beforeGets = 0, afterGets = 0] = cpu;
  return {
    creates: creates.perSecond,
    gets: gets.perSecond,
    createCpuUs: ((afterCreates - beforeCreates) / count) * 1e6,
    getCpuUs: ((afterGets - beforeGets) / (count * 10)) * 1e6,
    p99Ms: figuresOf(paced.latenciesMs).p99,
  };
}

/** Creates the kind and waits until it is served. */
async function installKind(target: Target): Promise<void> {
  const { host, port, ca, cert, key } = target;
  const transport = createHttpsTransport({ server: `https://${host}:${port}`, ca, certificate: cert, key });
  await transport.send({ method: "POST", path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body: benchCrd });
  while ((await transport.send({ method: "GET", path: machinesPath })).status !== 200) {
    // The genuine server serves a new kind a moment after it took its definition; each turn is a request.
  }
  transport.close();
}

/** Opens a file with 10,000 objects: store, kinds, collector, until the first answer. */
async function startFromDisk(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "talos-operator-bench-start-"));
  const path = join(folder, "api.db");
  const ports = { clock: systemClock, timers: systemTimers, random: systemRandom };
  const user = { name: "bench", groups: ["system:masters"] };
  try {
    const first = await createApiServer({ store: createSqliteStore(path), ...ports });
    const writer = first.transport(user);
    await writer.send({ method: "POST", path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body: benchCrd });
    for (let index = 0; index < 10_000; index += 1) await writer.send({ method: "POST", path: machinesPath, body: machine(`m-${index}`) });
    first.close();
    const begunAt = performance.now();
    const second = await createApiServer({ store: createSqliteStore(path), ...ports });
    const { status } = await second.transport(user).send({ method: "GET", path: `${machinesPath}/m-9999` });
    const ms = performance.now() - begunAt;
    second.close();
    if (status !== 200) throw new Error(`the server answered ${status}`);
    return `${ms.toFixed(0)} ms`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function rate(perSecond: number): string {
  return `${Math.round(perSecond).toLocaleString("en")}/s`;
}
