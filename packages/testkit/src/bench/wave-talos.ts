import { setTimeout as delay } from "node:timers/promises";
import { talosClusterResource } from "@talos-operator/api";
import type { TalosCluster } from "@talos-operator/api";
import { editCluster } from "./edits.ts";
import { createProgress } from "./progress.ts";
import { FLEET_SHAPE, startFleetWorld, untilAtRest, type FleetOptions } from "./ready-fleet.ts";
import { line } from "./report.ts";
import type { BenchWorld } from "./world.ts";

const BOOT_S = 5;
/** As long as a machine has to show everything before it counts as done. */
const BAKE_S = 10;
const GIVE_UP_MS = 15 * 60_000;

/**
 * B9: every cluster is asked for the next patch release of Talos, all at once; machines boot in 5 s, and pull and install without delay. Ideal is each cluster's
 * machines one after the other, boot and bake time of each and nothing between.
 */
export async function benchWaveOfTalos(clusters: number, options: FleetOptions): Promise<void> {
  await using world = await startFleetWorld(clusters, { ...options, bootSeconds: BOOT_S, managerFlags: ["--fast-failover"] });
  await untilAtRest(world);
  const machines = FLEET_SHAPE.controlPlanes + FLEET_SHAPE.workers;
  const [first] = await clustersOf(world);
  const version = nextPatch(first?.spec?.controlPlane?.version ?? "");
  const before = { cost: world.operatorCost(), calls: world.calls().length };
  const begunAt = Date.now();
  await Promise.all(
    Array.from({ length: clusters }, (_, index) => editCluster(world, index, { controlPlane: { version }, worker: { version } })),
  );
  const progress = createProgress();
  const doneAt = new Map<string, number>();
  while (doneAt.size < clusters && Date.now() - begunAt < GIVE_UP_MS) {
    await delay(500);
    for (const cluster of await clustersOf(world))
      if (isDone(cluster, version) && !doneAt.has(cluster.metadata.name)) doneAt.set(cluster.metadata.name, Date.now());
    progress.show(`${doneAt.size}/${clusters} clusters, ${((Date.now() - begunAt) / 1000).toFixed(0)} s`);
  }
  progress.end();
  const cost = world.operatorCost();
  const calls = world.calls().slice(before.calls);
  const boots = calls.filter(({ path, code }) => path.endsWith("/Reboot") && code === 0);
  const took = [...doneAt.values()].map((at) => (at - begunAt) / 1000).toSorted((a, b) => a - b);
  const ideal = machines * (BOOT_S + BAKE_S);
  const makespan = took.at(-1) ?? Number.NaN;
  process.stdout.write(
    [
      `Talos ${version} on ${clusters} clusters (3 + 2) at once, boots of ${BOOT_S} s, bake time of ${BAKE_S} s`,
      line("last cluster done after", `${makespan.toFixed(1)} s${doneAt.size < clusters ? ` GIVEN UP: only ${doneAt.size} clusters` : ""}`),
      line("median cluster", `${(took[Math.floor(took.length / 2)] ?? Number.NaN).toFixed(1)} s`),
      line(`of ideal (${ideal} s)`, (makespan / ideal).toFixed(2)),
      line("boots", `${boots.length} of ${clusters * machines}`),
      line("operator", `${(cost.cpuSeconds - before.cost.cpuSeconds).toFixed(1)} CPU-s; peak ${cost.peakMib.toFixed(0)} MiB`),
      line("Talos calls per machine", (calls.length / clusters / machines).toFixed(1)),
      "",
    ].join("\n"),
  );
}

async function clustersOf({ client }: BenchWorld): Promise<readonly TalosCluster[]> {
  return (await client.resource<TalosCluster>(talosClusterResource).list({ namespace: "default" })).items;
}

function isDone({ status }: TalosCluster, version: string): boolean {
  return (
    status?.observedVersion === version &&
    status.conditions?.some(({ type, reason }) => type === "Progressing" && reason === "Settled") === true
  );
}

function nextPatch(version: string): string {
  const [, minor = "", patch = "0"] = /^(v\d+\.\d+)\.(\d+)$/.exec(version) ?? [];
  return `${minor}.${Number(patch) + 1}`;
}
