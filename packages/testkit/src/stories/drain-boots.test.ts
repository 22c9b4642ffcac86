import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { demoTimings } from "@talos-operator/simulator";
import { cordonAt, inside, nodeAt, podNames, runPod } from "./cluster-pods.ts";
import type { NodeObject } from "./cluster-pods.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const worker = "10.5.0.4";
/** The machine says that it takes effect at the next boot. */
const needsBoot = { cluster: { etcd: { extraArgs: { "quota-backend-bytes": "4294967296" } } } };

async function changed(world: Story): Promise<void> {
  await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(cps, [worker]));
  await world.start();
  await world.untilReady(1_200);
  for (const [index, address] of cps.entries()) await runPod(world, address, `web-${index}`);
  const value = { spec: { controlPlane: { metalSpec: { machineSpec: { configPatches: [needsBoot] } } } } };
  await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value });
}

async function cordoned(world: Story): Promise<readonly string[]> {
  const { items } = await world.workload().resource<NodeObject>(inside.node).list();
  return items.flatMap((node) => (node.spec?.unschedulable === true ? [node.metadata?.name ?? ""] : []));
}

const upToDate = async (world: Story): Promise<boolean> => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.status === "True";

test("machines are drained one at a time before they boot, and every cordon is taken off again", () =>
  tell({ timings: demoTimings }, async (world) => {
    await changed(world);
    const boots = new Map<string, readonly string[]>();
    let most = 0;
    await world.until(
      "booted",
      async () => {
        const now = await cordoned(world);
        most = Math.max(most, now.length);
        for (const address of cps)
          if (!boots.has(address) && world.sent.includes(`Reboot ${address}`))
            boots.set(address, [await cordonAt(world, address), ...(await podNames(world))]);
        return (await cordoned(world)).length === 0 && boots.size === 3 && (await upToDate(world));
      },
      1_800,
    );
    assert.equal(most, 1);
    assert.deepEqual(
      cps.map((address) => boots.get(address)),
      [["ours", "web-1", "web-2"], ["ours", "web-2"], ["ours"]],
    );
    await world.untilReady();
  }));

test("the next machine is drained in the moment that the one before is schedulable again", () =>
  tell({}, async (world) => {
    await changed(world);
    const isBooted = (address: string) => async (): Promise<boolean> => world.sent.includes(`Reboot ${address}`);
    const first = cps[0] ?? "";
    await world.until("one boots", isBooted(first));
    const at = world.time.clock.now();
    for (const address of cps.slice(1)) await world.until(`${address} boots`, isBooted(address));
    // Two boots of some seconds each, and the looks between them.
    assert.ok(world.time.clock.now() - at < 25_000, `${world.time.clock.now() - at} ms`);
  }));

test("an operator that dies while a drained machine boots leaves its cordon to the next one", () =>
  tell({ timings: demoTimings }, async (world) => {
    await changed(world);
    await world.until("asked to boot", () => Promise.resolve(world.sent.some((call) => call.startsWith("Reboot "))), 600);
    await world.kill();
    await world.time.advance(60_000);
    assert.equal((await cordoned(world)).length, 1);
    await world.start();
    await world.until("booted", async () => (await upToDate(world)) && (await cordoned(world)).length === 0, 1_800);
    assert.equal((await nodeAt(world, cps[0] ?? ""))?.metadata?.annotations?.["talos-operator.dev/cordoned-for"], undefined);
  }));
