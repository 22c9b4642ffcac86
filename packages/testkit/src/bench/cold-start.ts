import { setTimeout as delay } from "node:timers/promises";
import { talosClusterResource } from "@talos-operator/api";
import { clusterObject, watchReady } from "./clusters.ts";
import { startBenchWorld } from "./world.ts";

const SHAPE = { controlPlanes: 3, workers: 2 };
const APPLIED_PER_SECOND = 50;
const GIVE_UP_MS = 15 * 60_000;

/** B2: many clusters (3 + 2) applied at 50 a second; until the last is Ready. */
export async function benchColdStart(count: number): Promise<void> {
  await using world = await startBenchWorld(count * (SHAPE.controlPlanes + SHAPE.workers));
  const ready = new Set<string>();
  const stop = new AbortController();
  await watchReady(world.client, (name) => ready.add(name), stop.signal);
  const clusters = world.client.resource(talosClusterResource);
  const begunAt = performance.now();
  for (let index = 0; index < count; index += 1) {
    await clusters.create(clusterObject(index, SHAPE));
    const due = begunAt + ((index + 1) * 1000) / APPLIED_PER_SECOND;
    if (due > performance.now()) await delay(due - performance.now());
  }
  while (ready.size < count && performance.now() - begunAt < GIVE_UP_MS) {
    await delay(200);
    process.stderr.write(`\r${ready.size}/${count} Ready, ${((performance.now() - begunAt) / 1000).toFixed(0)} s`);
  }
  const wall = (performance.now() - begunAt) / 1000;
  stop.abort();
  const requests = [...world.apiRequests().values()].reduce((sum, value) => sum + value, 0);
  const calls = world.talosCalls();
  const cost = world.operatorCost();
  process.stderr.write("\n");
  process.stdout.write(
    [
      `cold start of ${count} clusters (3 + 2): ${ready.size} Ready after ${wall.toFixed(0)} s`,
      `  operator                                ${cost.cpuSeconds.toFixed(0)} CPU-s (RSA keys included), peak ${cost.peakMib.toFixed(0)} MiB`,
      `  API requests per cluster, all clients   ${(requests / count).toFixed(0)}`,
      `  Talos calls per machine                 ${(calls.all / count / 5).toFixed(1)}, of them mutating ${(calls.mutating / count / 5).toFixed(2)}`,
      "",
    ].join("\n"),
  );
}
