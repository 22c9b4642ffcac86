import { createServer, type Server } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { talosClusterResource } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { clusterObject } from "./clusters.ts";
import { inMilliseconds } from "./figures.ts";
import { latencies, range } from "./latency.ts";
import { FLEET_SHAPE, startFleetWorld, untilAtRest, untilQuiet, type FleetOptions } from "./ready-fleet.ts";
import { line } from "./report.ts";
import { residentMib, socketsOf } from "./steady.ts";
import type { BenchWorld } from "./world.ts";

const SIZE = FLEET_SHAPE.controlPlanes + FLEET_SHAPE.workers;
const POISONED = 100;
const WATCH_S = 60;
const SLOW_BYTE_MS = 10_000;

/**
 * B10: what machines that take connections and never answer (5 of 100), machines that send one byte in ten seconds (1 of 100) and a hundred objects that
 * nobody can fulfil do to everybody else. Edits of healthy clusters are timed before and after, in one run.
 */
export async function benchNeighbours(clusters: number, options: FleetOptions): Promise<void> {
  await using world = await startFleetWorld(clusters, options);
  await untilAtRest(world);
  const half = Math.floor(clusters / 2);
  const alone = await latencies(world, range(0, half), 50);
  // What the edits have begun ends before the next are timed: two workers of each cluster try a setting for a quarter of a minute, one after the other.
  await delay(40_000);
  await untilQuiet(world);
  const [silent, slow] = [Math.ceil(clusters / 20), Math.ceil(clusters / 100)];
  const bad = await startBadMachines(clusters, silent, slow);
  try {
    await addNeighbours(world, clusters, silent + slow);
    await delay(20_000);
    const before = { rss: residentMib(world.operatorPid), sockets: socketsOf(world.operatorPid), cpu: world.operatorCost().cpuSeconds };
    await delay(WATCH_S * 1000);
    const after = { rss: residentMib(world.operatorPid), sockets: socketsOf(world.operatorPid), cpu: world.operatorCost().cpuSeconds };
    const beside = await latencies(world, range(half, clusters), 50);
    process.stdout.write(
      [
        `bad neighbours of ${clusters} healthy clusters (3 + 2): ${silent * SIZE} machines silent, ${slow * SIZE} slow, ${POISONED} poisoned objects`,
        line(`alone: ${half} edits, 50 a second`, inMilliseconds(alone)),
        line("beside them", inMilliseconds(beside)),
        line("p99 beside to alone", (beside.p99 / alone.p99).toFixed(2)),
        line(`memory before and after ${WATCH_S} s`, `${before.rss.toFixed(0)} MiB, ${after.rss.toFixed(0)} MiB`),
        line("sockets before and after", `${before.sockets}, ${after.sockets}`),
        line("processor time meanwhile, of one core", `${(((after.cpu - before.cpu) / WATCH_S) * 100).toFixed(1)} %`),
        "",
      ].join("\n"),
    );
  } finally {
    for (const server of bad) server.close();
  }
}

/** Clusters of bad machines lie behind the fleet and its spares. */
function badCluster(clusters: number, index: number): KubeObject {
  return clusterObject(Math.ceil((clusters * (SIZE + 1)) / SIZE) + 1 + index, FLEET_SHAPE);
}

function addressesOf(cluster: KubeObject): readonly string[] {
  return [...JSON.stringify(cluster).matchAll(/"address":"([\d.]+)"/g)].map(([, address = ""]) => address);
}

/** Listens where Talos would. The first `silent` clusters take connections and say nothing; the next say one byte now and then. */
async function startBadMachines(clusters: number, silent: number, slow: number): Promise<readonly Server[]> {
  const servers: Server[] = [];
  for (const index of range(0, silent + slow))
    for (const address of addressesOf(badCluster(clusters, index))) {
      const server = createServer((socket) => {
        socket.on("error", () => socket.destroy());
        socket.resume();
        if (index < silent) return;
        const timer = setInterval(() => socket.write("\u0016"), SLOW_BYTE_MS);
        socket.on("close", () => clearInterval(timer));
      });
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(50_000, address, resolve);
      });
      servers.push(server.unref());
    }
  return servers;
}

async function addNeighbours(world: BenchWorld, clusters: number, bad: number): Promise<void> {
  const resource = world.client.resource(talosClusterResource);
  for (const index of range(0, bad)) await resource.create(badCluster(clusters, index));
  for (const index of range(0, POISONED)) await resource.create(poisoned(index));
}

/** What an API takes and nobody can fulfil. */
function poisoned(index: number): KubeObject {
  const name = `poison-${index}`;
  const machine = { address: `127.250.${Math.floor(index / 250)}.${(index % 250) + 1}` };
  const kinds: readonly ((spec: Pools) => object)[] = [
    // A patch that breaks the configuration.
    (spec) => ({ ...spec, worker: patched(spec.worker, { machine: { type: 7, network: ["no map"] } }) }),
    // Patches of a size that nobody writes by hand.
    (spec) => ({
      ...spec,
      worker: patched(spec.worker, { machine: { nodeLabels: Object.fromEntries(range(0, 5_000).map((n) => [`l${n}`, "x"])) } }),
    }),
    // A version that was never released.
    (spec) => ({ ...spec, controlPlane: { ...spec.controlPlane, version: "v1.99.0" } }),
    // An endpoint that is no address.
    (spec) => ({ ...spec, controlPlane: { ...spec.controlPlane, endpoint: "https://nowhere.invalid:6443" } }),
    // A machine that refers to an object of a kind that nobody serves.
    (spec) => ({
      ...spec,
      worker: {
        ...spec.worker,
        metalSpec: {
          machines: [
            { machineRef: { apiVersion: "example.org/v1", kind: "Server", name: "none", namespace: "default", fieldPath: "$..*" } },
          ],
        },
      },
    }),
  ];
  const { spec } = clusterObject(0, { controlPlanes: 1, workers: 1 }) as unknown as { readonly spec: Pools };
  const own: Pools = {
    controlPlane: {
      ...spec.controlPlane,
      endpoint: `https://${machine.address}:6443`,
      metalSpec: { ...spec.controlPlane.metalSpec, machines: [machine] },
    },
    worker: { ...spec.worker, metalSpec: { ...spec.worker.metalSpec, machines: [] } },
  };
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosCluster",
    metadata: { namespace: "default", name },
    spec: kinds[index % kinds.length]?.(own),
  } as unknown as KubeObject;
}

type Pool = Readonly<Record<string, unknown>> & { readonly metalSpec: Readonly<Record<string, unknown>> };

interface Pools {
  readonly controlPlane: Pool;
  readonly worker: Pool;
}

function patched(pool: Pool, configPatch: object): Pool {
  return { ...pool, metalSpec: { ...pool.metalSpec, machineSpec: { installDisk: "/dev/sda", configPatches: [configPatch] } } };
}
