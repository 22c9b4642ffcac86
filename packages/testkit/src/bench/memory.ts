import { setTimeout as delay } from "node:timers/promises";
import { anonymousMib, createMemoryGroup, type MemoryGroup } from "./memory-group.ts";
import { startFleetWorld, untilQuiet, type FleetOptions } from "./ready-fleet.ts";
import { line } from "./report.ts";

/** A container's limits of memory by machines that it is to hold. */
const LIMITS: readonly (readonly [machines: number, mib: number])[] = [
  [500, 128],
  [1000, 256],
];

/** Fifty of these are 500 machines. */
const SHAPE = { controlPlanes: 3, workers: 7 };

const IDLE_S = 30;

/**
 * The operator in a memory cgroup, beside healthy clusters, from its start until it has looked at everything and idles.
 *
 * @param isLimited the group has the limit of its container; else it shows what would be taken
 */
export async function benchMemory(clusters: number, isLimited: boolean, options: FleetOptions): Promise<void> {
  const machines = clusters * (SHAPE.controlPlanes + SHAPE.workers);
  const limit = LIMITS.find(([most]) => machines <= most)?.[1];
  const group = createMemoryGroup();
  if (group === undefined) throw new Error("no memory cgroup can be made here: run it as root on a machine that accounts memory");
  if (isLimited && limit !== undefined) group.limit(limit);
  try {
    process.stdout.write(
      [
        `operator beside ${clusters} healthy clusters, ${machines} machines, ${options.bundled ? "bundled" : "from the sources"}`,
        line("limit of the container", limit === undefined ? "none" : `${limit} MiB${isLimited ? "" : ", not set here"}`),
        ...(await measured(clusters, group, options)),
        line("killed for memory", String(group.kills())),
        "",
      ].join("\n"),
    );
  } finally {
    group.remove();
  }
}

async function measured(clusters: number, group: MemoryGroup, options: FleetOptions): Promise<readonly string[]> {
  await using world = await startFleetWorld(clusters, { ...options, shape: SHAPE, memoryGroup: group.procs });
  try {
    const settledAfter = await untilQuiet(world);
    const peak = group.peakMib();
    await delay(IDLE_S * 1000);
    return [
      line("all were looked at after", `${settledAfter.toFixed(0)} s`),
      line("charged at most until then", `${peak.toFixed(1)} MiB`),
      line(`charged after ${IDLE_S} s of idling`, `${group.chargedMib().toFixed(1)} MiB`),
      line("of it anonymous", `${anonymousMib(world.operatorPid).toFixed(1)} MiB`),
      line("processor time since the start", `${world.operatorCost().cpuSeconds.toFixed(1)} s`),
    ];
  } catch (thrown) {
    // The process is gone: that is the answer.
    if (group.kills() > 0) return [line("charged at most", `${group.peakMib().toFixed(1)} MiB`)];
    throw thrown;
  }
}
