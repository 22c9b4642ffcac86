import assert from "node:assert/strict";
import { test } from "node:test";
import { realisticTimings } from "@talos-operator/simulator";
import { createObjectView } from "../simulate/object-view.ts";
import type { ObjectView } from "../simulate/object-view.ts";
import { createToldRules } from "../simulate/told-rules/index.ts";
import { keepAvailable, runPod } from "./cluster-pods.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];
const late = "10.5.0.6";
const demo = { namespace: "default", name: "demo" };

/** Everything beside the machines that a step may ask for. */
interface Wish {
  readonly cps: readonly string[];
  readonly workers: readonly string[];
  readonly disk?: string;
  readonly patch?: object;
  readonly version?: string;
  readonly replicas?: number;
}

function manifest({ cps: control, workers: pool, disk, patch, version, replicas }: Wish) {
  const cluster = demoCluster(control, pool);
  const ofWorkers = {
    ...cluster.spec?.worker,
    ...(version === undefined ? {} : { version }),
    metalSpec: {
      machines: pool.map((address) => ({ address })),
      machineSpec: { installDisk: disk ?? "/dev/sda", ...(patch === undefined ? {} : { configPatches: [patch] }) },
    },
  };
  const controlPlane = { ...cluster.spec?.controlPlane, ...(replicas === undefined ? {} : { replicas }) };
  return { ...cluster, spec: { controlPlane, worker: ofWorkers } };
}

/** At each write of a status and each second all rules of `told-rules` hold. */
async function playWords(world: Story): Promise<void> {
  const objects = createObjectView(world.truth, { isComposed: true });
  const found = new Map<string, string>();
  let now = "start";
  const rules = createToldRules(
    { objects, datacenter: world.datacenter, routes: new Map() },
    () => world.time.now(),
    (id, detail, key) => {
      if (!found.has(`${id} ${key}`)) found.set(`${id} ${key}`, `${now}: ${id} ${detail}; there is ${machinesIn(objects)}`);
    },
  );
  await objects.start();
  objects.onChange(() => rules.look());
  const eachSecond = (): void => {
    rules.look();
    world.time.timers.schedule(1_000, eachSecond);
  };
  eachSecond();
  const step = async (what: string, play: () => Promise<void>): Promise<void> => {
    now = what;
    await play();
    await world.time.advance(30_000);
  };
  const edit = async (wish: Wish): Promise<void> => {
    const { spec } = manifest(wish);
    await world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec } });
  };
  const settled = (what: string, seconds = 1_800): Promise<void> =>
    world.until(
      what,
      async () => {
        const object = await world.get(kinds.cluster);
        const progress = await world.condition(kinds.cluster, "Progressing");
        return (
          (progress?.reason === "Settled" || progress?.reason === "UpgradePending") &&
          progress.observedGeneration === object?.metadata?.generation
        );
      },
      seconds,
    );
  const readyIs = (what: string, reason: string, type = kinds.cluster, name?: string): Promise<void> =>
    world.until(what, async () => (await world.condition(type, "Ready", name))?.reason === reason, 600);

  await step("create", async () => {
    await world.client.resource(kinds.cluster).create(manifest({ cps: cps.slice(0, 1), workers: workers.slice(0, 1) }));
    await world.start();
    await settled("created");
  });
  await step("grow", async () => {
    await edit({ cps, workers });
    await settled("grown");
  });
  await step("edit what acts at once", async () => {
    await edit({ cps, workers, patch: { machine: { sysctls: { "net.core.somaxconn": "4096" } } } });
    await settled("edited");
  });
  await step("edit what boots, and an ignored field", async () => {
    await edit({ cps, workers, replicas: 3, patch: { machine: { env: { PROOF_OF_BOOT: "1" } } } });
    await settled("edited");
  });
  for (const [what, address, reason] of [
    ["worker", "10.5.0.5", "WorkersNotReady"],
    ["control plane", "10.5.0.3", "ControlPlaneNotReady"],
  ] as const)
    await step(`break: a ${what} is switched off`, async () => {
      world.datacenter.machine(address).powerOff();
      await readyIs(`${what} missed`, reason);
      await world.time.advance(60_000);
      world.datacenter.machine(address).powerOn();
      await settled(`${what} is back`);
    });
  await step("a drain is blocked", async () => {
    await runPod(world, "10.5.0.5", "web-1", { labels: { app: "web" } });
    await keepAvailable(world.workload(), "web", 1);
    await world.time.advance(2_000);
    await edit({ cps, workers: workers.slice(0, 1) });
    await world.until("blocked", async () => (await world.condition(kinds.controlPlane, "Draining"))?.reason === "BudgetBlocks", 300);
    await world.time.advance(60_000);
    await runPod(world, "10.5.0.4", "web-2", { labels: { app: "web" } });
    await settled("drained and gone");
  });
  await step("a wrong disk", async () => {
    await edit({ cps, workers: [...workers.slice(0, 1), late], disk: "/dev/sdz" });
    await readyIs("disk missed", "InstallDiskUnclear", kinds.worker);
    await world.time.advance(60_000);
    await edit({ cps, workers: [...workers.slice(0, 1), late] });
    await settled("disk corrected");
  });
  await step("shrink", async () => {
    await runPod(world, late, "web-3", { labels: { app: "web" } });
    await edit({ cps: cps.slice(0, 1), workers: [late] });
    await settled("shrunk");
  });
  await step("another version", async () => {
    await edit({ cps: cps.slice(0, 1), workers: [late], version: "v1.13.10" });
    await world.until("pending", async () => (await world.condition(kinds.cluster, "UpgradePending")) !== undefined, 120);
    await world.time.advance(60_000);
  });
  await step("delete", async () => {
    await world.client.resource(kinds.cluster).delete(demo);
    await world.until("gone", async () => (await world.get(kinds.cluster)) === undefined, 1_200);
  });
  // One story shows every false word that it meets.
  assert.deepEqual([...found.values()], []);
}

/** TalosMachines as the view has them: whoever finds a false word wants to know whether they were gone, new, or without a status. */
function machinesIn(objects: ObjectView): string {
  const words = objects.all("talosmachines").map(({ metadata, status }) => {
    const { name, uid, resourceVersion, deletionTimestamp } = metadata ?? {};
    return `${name} ${uid?.slice(0, 8)} at ${resourceVersion}${deletionTimestamp === undefined ? "" : " going"} with ${status?.conditions?.length ?? "no"} conditions`;
  });
  return words.join(", ") || "no TalosMachine";
}

test("no object says a false word while a cluster is created, grows, is edited, breaks, shrinks and goes", () =>
  tell({ timings: realisticTimings }, playWords));
