import { setTimeout as delay } from "node:timers/promises";
import { talosClusterResource } from "@talos-operator/api";
import { clusterObject, watchReady } from "./clusters.ts";
import { figuresOf, inSeconds } from "./figures.ts";
import { startBenchWorld } from "./world.ts";

const SHAPE = { controlPlanes: 3, workers: 3 };
/** An RSA key takes about a second of processor time, on a busy machine two. */
const POOL_REFILL_MS = 4000;

/**
 * B1: from the acknowledged create of one cluster (3 + 3, machines without delay) to its Ready condition, as a watch sees it.
 * Pooled: the service account's RSA key was made before. Unpooled: the creates follow each other, so that keys have to be made on the way.
 */
export async function benchFirstCluster(repeats: number): Promise<void> {
  await using world = await startBenchWorld(repeats * 2 * (SHAPE.controlPlanes + SHAPE.workers));
  const waiting = new Map<string, (at: number) => void>();
  const stop = new AbortController();
  await watchReady(world.client, (name) => waiting.get(name)?.(performance.now()), stop.signal);
  const clusters = world.client.resource(talosClusterResource);

  const measure = async (index: number): Promise<number> => {
    const ready = new Promise<number>((resolve) => waiting.set(`bench-${index}`, resolve));
    await clusters.create(clusterObject(index, SHAPE));
    const begunAt = performance.now();
    return (await Promise.race([ready, delay(120_000, Number.NaN)])) - begunAt;
  };
  const pooled: number[] = [];
  const unpooled: number[] = [];
  const calls = world.talosCalls();
  for (let index = 0; index < repeats; index += 1) {
    await delay(POOL_REFILL_MS);
    pooled.push(await measure(index));
    process.stderr.write(`\rpooled ${index + 1}/${repeats}`);
  }
  const callsAfter = world.talosCalls();
  for (let index = repeats; index < repeats * 2; index += 1) {
    unpooled.push(await measure(index));
    process.stderr.write(`\runpooled ${index + 1 - repeats}/${repeats}`);
  }
  stop.abort();
  const requests = [...world.apiRequests().values()].reduce((sum, count) => sum + count, 0);
  const cost = world.operatorCost();
  process.stderr.write("\n");
  process.stdout.write(
    [
      `first cluster (3 + 3), apply to Ready`,
      `  key pooled     ${inSeconds(figuresOf(pooled))}`,
      `  key not pooled ${inSeconds(figuresOf(unpooled))}`,
      `  API requests per cluster, all clients   ${(requests / (repeats * 2)).toFixed(0)}`,
      `  Talos calls per machine                 ${((callsAfter.all - calls.all) / repeats / 6).toFixed(1)}, of them mutating ${((callsAfter.mutating - calls.mutating) / repeats / 6).toFixed(2)}`,
      `  operator                                ${cost.cpuSeconds.toFixed(1)} CPU-s, peak ${cost.peakMib.toFixed(0)} MiB`,
      "",
    ].join("\n"),
  );
}
