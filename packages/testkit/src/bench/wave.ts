import { setTimeout as delay } from "node:timers/promises";
import { editCluster, machinesOfCluster } from "./edits.ts";
import { createProgress } from "./progress.ts";
import { FLEET_SHAPE, startFleetWorld, untilAtRest, type FleetOptions } from "./ready-fleet.ts";
import { line } from "./report.ts";
import type { AnsweredCall } from "./world.ts";

const BOOT_S = 5;
const GIVE_UP_MS = 10 * 60_000;
/** In force after a boot only, on every machine. */
const needsBoot = { metalSpec: { machineSpec: { configPatches: [{ machine: { env: { BENCH: "1" } } }] } } };

/**
 * B9 for settings: every cluster gets a setting that needs a boot, all at once; machines boot in 5 s. Ideal is each cluster's machines one after the other
 * and nothing between the boots.
 */
export async function benchWave(clusters: number, options: FleetOptions): Promise<void> {
  await using world = await startFleetWorld(clusters, { ...options, bootSeconds: BOOT_S, managerFlags: ["--fast-failover"] });
  // Longer than a new leader leaves machines alone and cordons where they are.
  await untilAtRest(world);
  const machines = clusters * (FLEET_SHAPE.controlPlanes + FLEET_SHAPE.workers);
  const before = { cost: world.operatorCost(), calls: world.calls().length };
  const begunAt = Date.now();
  await Promise.all(
    Array.from({ length: clusters }, (_, index) => editCluster(world, index, { controlPlane: needsBoot, worker: needsBoot })),
  );
  const progress = createProgress();
  let reboots: readonly AnsweredCall[] = [];
  while (reboots.length < machines && Date.now() - begunAt < GIVE_UP_MS) {
    await delay(1_000);
    reboots = world
      .calls()
      .slice(before.calls)
      .filter(({ path, code }) => path.endsWith("/Reboot") && code === 0);
    progress.show(`${reboots.length}/${machines} boots, ${((Date.now() - begunAt) / 1000).toFixed(0)} s`);
  }
  progress.end();
  const cost = world.operatorCost();
  const makespan = (Math.max(...reboots.map(({ at }) => at)) - begunAt) / 1000 + BOOT_S;
  const ideal = 5 * BOOT_S;
  process.stdout.write(
    [
      `a setting that needs a boot, ${clusters} clusters (3 + 2) at once, boots of ${BOOT_S} s`,
      line(
        "last machine booted after",
        `${makespan.toFixed(1)} s${reboots.length < machines ? ` GIVEN UP: only ${reboots.length} boots` : ""}`,
      ),
      line(`of ideal (${ideal} s)`, (makespan / ideal).toFixed(2)),
      line("control planes of a cluster down together", String(overlaps(clusters, reboots))),
      line("machines booted twice", String(reboots.length - new Set(reboots.map(({ machine }) => machine)).size)),
      line("operator", `${(cost.cpuSeconds - before.cost.cpuSeconds).toFixed(1)} CPU-s; peak ${cost.peakMib.toFixed(0)} MiB`),
      line("Talos calls per machine", ((world.calls().length - before.calls) / machines).toFixed(1)),
      "",
    ].join("\n"),
  );
}

/** Boots of control planes of one cluster that began while another one booted: two of three down are a lost quorum. */
function overlaps(clusters: number, reboots: readonly AnsweredCall[]): number {
  let count = 0;
  for (let index = 0; index < clusters; index += 1) {
    const controlPlanes = new Set(machinesOfCluster(index).slice(0, FLEET_SHAPE.controlPlanes));
    const begun = reboots.filter(({ machine }) => controlPlanes.has(machine)).map(({ at }) => at);
    count += begun.toSorted((a, b) => a - b).filter((at, nth, all) => nth > 0 && at < (all[nth - 1] ?? 0) + BOOT_S * 1000).length;
  }
  return count;
}
