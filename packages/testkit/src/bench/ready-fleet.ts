import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { applyClusters, watchReady, type ClusterShape } from "./clusters.ts";
import type { BenchProcess } from "./process.ts";
import { createProgress } from "./progress.ts";
import { startBenchWorld, type BenchWorld, type WorldOptions } from "./world.ts";

/** Each cluster of a fleet. */
export const FLEET_SHAPE = { controlPlanes: 3, workers: 2 };
const SIZE = FLEET_SHAPE.controlPlanes + FLEET_SHAPE.workers;

const GIVE_UP_MS = 60 * 60_000;

/** Within this time a new process reads every configuration back; edits that come meanwhile wait for their turn. */
const FIRST_READINGS_MS = 75_000;

/** What every benchmark of a running fleet takes. */
export interface FleetOptions {
  readonly bundled: boolean;
  readonly nodeOptions: readonly string[];
  readonly apiNodeOptions?: readonly string[];
  /** Default: {@link FLEET_SHAPE}. */
  readonly shape?: ClusterShape;
}

/** Address of the spare machine of a cluster: it waits in maintenance mode beside the fleet. */
export function spareOf(clusters: number, index: number): string {
  const n = clusters * SIZE + index + 1;
  return `127.1.${Math.floor(n / 256)}.${n % 256}`;
}

/**
 * Starts the world of a fleet of Ready clusters (3 + 2) with a spare machine each, and waits until the operator has looked at all of them.
 *
 * Making 200 clusters takes two minutes, so the state of API and machines is kept in `~/.cache/talos-operator/bench` and gone on from; remove the
 * folder after a change of schemas.
 */
export async function startFleetWorld(clusters: number, options: FleetOptions & Partial<WorldOptions>): Promise<BenchWorld> {
  const shape = options.shape ?? FLEET_SHAPE;
  const from = folderOf(clusters, shape);
  // What making it takes is nobody's measurement.
  const { memoryGroup: _, ...plain } = options;
  if (!existsSync(join(from, "complete"))) await makeFleet(clusters, plain);
  return startBenchWorld({ ...options, from, rsaPool: 0, machines: clusters * (sizeOf(shape) + 1) });
}

/** Until the operator did next to nothing for three seconds: it has looked at everything. Tells how long that took. */
export async function untilQuiet({ operator }: { readonly operator: BenchProcess }): Promise<number> {
  const begunAt = performance.now();
  for (let before = operator.cost().cpuSeconds, quiet = 0; quiet < 3;) {
    await delay(1000);
    const now = operator.cost().cpuSeconds;
    quiet = now - before <= 0.1 ? quiet + 1 : 0;
    before = now;
  }
  return (performance.now() - begunAt) / 1000;
}

function sizeOf({ controlPlanes, workers }: ClusterShape): number {
  return controlPlanes + workers;
}

/** Until a new operator has looked at everything and read every configuration. @returns seconds that the looks took */
export async function untilAtRest(world: BenchWorld): Promise<number> {
  const seconds = await untilQuiet(world);
  await delay(FIRST_READINGS_MS);
  return seconds;
}

function folderOf(clusters: number, shape: ClusterShape): string {
  const suffix = sizeOf(shape) === SIZE ? "" : `-of-${sizeOf(shape)}`;
  return join(homedir(), ".cache", "talos-operator", "bench", `fleet-${clusters}${suffix}`);
}

/** Makes the clusters and keeps the state of API and machines, in the place of what was kept before. */
export async function makeFleet(count: number, options: FleetOptions): Promise<void> {
  const shape = options.shape ?? FLEET_SHAPE;
  const folder = folderOf(count, shape);
  process.stderr.write(`making a fleet of ${count} clusters once, in ${folder}\n`);
  await using world = await startBenchWorld({ ...options, rsaPool: 2, machines: count * (sizeOf(shape) + 1), persist: true });
  const ready = new Set<string>();
  const stop = new AbortController();
  await watchReady(world.client, (name) => ready.add(name), stop.signal);
  const begunAt = await applyClusters(world.client, count, shape);
  const progress = createProgress();
  while (ready.size < count) {
    if (performance.now() - begunAt > GIVE_UP_MS) throw new Error(`only ${ready.size} of ${count} clusters became Ready`);
    await delay(200);
    progress.show(`${ready.size}/${count} Ready, ${((performance.now() - begunAt) / 1000).toFixed(0)} s`);
  }
  progress.end();
  stop.abort();
  await untilQuiet(world);
  await world.operator.end();
  const unfinished = `${folder}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  await world.stopOthers();
  for (const part of ["api", "machines"]) cpSync(join(world.folder, part), join(unfinished, part), { recursive: true });
  writeFileSync(join(unfinished, "complete"), "");
  rmSync(folder, { recursive: true, force: true });
  renameSync(unfinished, folder);
}
