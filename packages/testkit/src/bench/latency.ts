import { setTimeout as delay } from "node:timers/promises";
import { editAtRate, machinesOfCluster, workerLabel, type Edit } from "./edits.ts";
import { figuresOf, inMilliseconds, type Figures } from "./figures.ts";
import { startFleetWorld, untilAtRest, type FleetOptions } from "./ready-fleet.ts";
import { line } from "./report.ts";
import type { BenchWorld } from "./world.ts";

/** Longest that an edit is waited for. */
const GIVE_UP_MS = 20_000;

/**
 * B5: from the API's answer to an edit of a TalosCluster until the first call about it reaches one of its machines, handshake included.
 *
 * The edit is a worker's label; the first call reads back what the worker runs.
 */
export async function benchLatency(clusters: number, options: FleetOptions): Promise<void> {
  await using world = await startFleetWorld(clusters, options);
  await untilAtRest(world);
  const slow = Math.min(60, Math.ceil(clusters * 0.3));
  const report = [`edit acknowledged to the first Talos call, ${clusters} clusters with ${clusters * 5} machines`];
  report.push(line(`${slow} edits, 1 a second`, inMilliseconds(await latencies(world, range(0, slow), 1))));
  await delay(5_000);
  report.push(line(`${clusters - slow} edits, 50 a second`, inMilliseconds(await latencies(world, range(slow, clusters), 50))));
  process.stdout.write(`${report.join("\n")}\n`);
}

/** Edits each cluster once, and says how long each took to reach a machine. */
async function latencies(world: BenchWorld, clusters: readonly number[], perSecond: number): Promise<Figures> {
  const edits = await editAtRate(world, clusters, perSecond, (cluster) => workerLabel(`${cluster}-${perSecond}`));
  let found = firstCalls(world, edits);
  for (const begunAt = performance.now(); found.length < edits.length && performance.now() - begunAt < GIVE_UP_MS;) {
    await delay(500);
    found = firstCalls(world, edits);
  }
  const missing = Array.from({ length: edits.length - found.length }, () => Number.POSITIVE_INFINITY);
  return figuresOf([...found, ...missing]);
}

/** The looks that go on all the time may be taken for an answer: one in some hundreds, since each takes less than a tenth of a second. */
function firstCalls(world: BenchWorld, edits: readonly Edit[]): readonly number[] {
  const byMachine = new Map(
    edits.flatMap((edit) =>
      machinesOfCluster(edit.cluster)
        .slice(-2)
        .map((machine) => [machine, edit]),
    ),
  );
  const first = new Map<Edit, number>();
  for (const { machine, receivedAt } of world.calls()) {
    const edit = byMachine.get(machine);
    if (edit === undefined || receivedAt < edit.sentAt) continue;
    first.set(edit, Math.min(first.get(edit) ?? Number.POSITIVE_INFINITY, receivedAt));
  }
  return [...first].map(([edit, at]) => Math.max(0, at - edit.ackedAt));
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
