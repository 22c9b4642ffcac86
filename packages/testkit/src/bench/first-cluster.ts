import { setTimeout as delay } from "node:timers/promises";
import { talosClusterResource } from "@talos-operator/api";
import { clusterObject, watchReady } from "./clusters.ts";
import { figuresOf, inSeconds } from "./figures.ts";
import { createProgress } from "./progress.ts";
import { callLines, costText, line, requestLines } from "./report.ts";
import { startBenchWorld } from "./world.ts";
import type { BenchWorld } from "./world.ts";

const SHAPE = { controlPlanes: 3, workers: 3 };

/**
 * B1: from the acknowledged create of one cluster (3 + 3, machines without delay) to its Ready condition, as a watch sees it.
 *
 * Pooled: the service account's RSA key was made before. Unpooled, in a world of its own: the operator keeps none ready.
 */
export async function benchFirstCluster(repeats: number, options: { readonly bundled: boolean }): Promise<void> {
  const report = [`first cluster (3 + 3), apply to Ready, ${repeats} each; one more before them is not counted`];
  for (const rsaPool of [1, 0]) {
    await using world = await startBenchWorld({ ...options, rsaPool, machines: (repeats + 1) * (SHAPE.controlPlanes + SHAPE.workers) });
    const times = await measure(world, repeats, rsaPool);
    report.push(
      rsaPool > 0 ? "RSA key from the pool" : "RSA key made on the way",
      line("apply to Ready", inSeconds(figuresOf(times))),
      line("operator", costText(world.operatorCost(), repeats + 1)),
      ...requestLines(world.apiRequests(), repeats + 1),
      ...callLines(world.talosCalls(), (repeats + 1) * 6, (repeats + 1) * 3),
    );
  }
  process.stdout.write(`${report.join("\n")}\n`);
}

async function measure(world: BenchWorld, repeats: number, rsaPool: number): Promise<readonly number[]> {
  const waiting = new Map<string, (at: number) => void>();
  const stop = new AbortController();
  await watchReady(world.client, (name) => waiting.get(name)?.(performance.now()), stop.signal);
  const clusters = world.client.resource(talosClusterResource);
  const times: number[] = [];
  const progress = createProgress();
  for (let index = 0; index <= repeats; index += 1) {
    await quiet(world);
    const ready = new Promise<number>((resolve) => waiting.set(`bench-${index}`, resolve));
    await clusters.create(clusterObject(index, SHAPE));
    const begunAt = performance.now();
    const time = (await Promise.race([ready, delay(120_000, Number.NaN)])) - begunAt;
    if (index > 0) times.push(time);
    progress.show(`${rsaPool > 0 ? "pooled" : "unpooled"} ${index}/${repeats}`);
  }
  progress.end();
  stop.abort();
  return times;
}

/** Until nothing is left to do, the next key of the pool included: the operator's process used no more than a tenth of a processor for half a second. */
async function quiet(world: BenchWorld): Promise<void> {
  for (let before = world.operatorCost().cpuSeconds; ;) {
    await delay(500);
    const now = world.operatorCost().cpuSeconds;
    if (now - before <= 0.05) return;
    before = now;
  }
}
