import { setTimeout as delay } from "node:timers/promises";
import { applyClusters, APPLIED_PER_SECOND, watchReady } from "./clusters.ts";
import { createProgress } from "./progress.ts";
import { callLines, costText, line, requestLines } from "./report.ts";
import { startBenchWorld } from "./world.ts";

const SHAPE = { controlPlanes: 3, workers: 2 };
const GIVE_UP_MS = 15 * 60_000;

/** B2: many clusters (3 + 2) applied at 50 a second; until the last is Ready. */
export async function benchColdStart(
  count: number,
  options: { readonly bundled: boolean; readonly nodeOptions: readonly string[]; readonly apiNodeOptions?: readonly string[] },
): Promise<void> {
  await using world = await startBenchWorld({ ...options, rsaPool: 2, machines: count * (SHAPE.controlPlanes + SHAPE.workers) });
  const ready = new Set<string>();
  const stop = new AbortController();
  await watchReady(world.client, (name) => ready.add(name), stop.signal);
  const begunAt = await applyClusters(world.client, count, SHAPE);
  const elapsed = (): number => (performance.now() - begunAt) / 1000;
  const progress = createProgress();
  while (ready.size < count && elapsed() * 1000 < GIVE_UP_MS) {
    await delay(100);
    progress.show(`${ready.size}/${count} Ready, ${elapsed().toFixed(0)} s`);
  }
  const wall = elapsed();
  stop.abort();
  const { api, machines } = world.otherCost();
  progress.end();
  process.stdout.write(
    [
      `cold start of ${count} clusters (3 + 2), applied at ${APPLIED_PER_SECOND}/s`,
      line("all Ready after", `${wall.toFixed(1)} s${ready.size < count ? ` GIVEN UP: only ${ready.size}` : ""}`),
      line("operator", costText(world.operatorCost(), count)),
      line("API, machines", `${api.cpuSeconds.toFixed(1)}, ${machines.cpuSeconds.toFixed(1)} CPU-s`),
      ...requestLines(world.apiRequests(), count),
      ...callLines(world.talosCalls(), count * 5, count * 3),
      "",
    ].join("\n"),
  );
}
