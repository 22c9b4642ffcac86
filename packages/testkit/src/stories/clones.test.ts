import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { apply, assertStoppedBy } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const worker = "10.5.0.4";
const cloned = "5f1c7a3e-9d20-4c44-8a51-3b7f0e6d2c19";
const vendor = "03000200-0400-0500-0006-000700080009";

const machines = (uuid: string, macs: Readonly<Record<string, string>> = {}) =>
  [...cps, worker, "10.5.0.5", "10.5.0.6"].map((address) => ({
    address,
    uuid,
    ...(macs[address] === undefined ? {} : { mac: macs[address] }),
  }));

async function ready(world: Story): Promise<void> {
  await apply(world, kinds.cluster, demoCluster(cps, [worker]));
  await world.start();
  await world.untilReady();
  await world.time.advance(3_000);
}

describe("machines that share a UUID", () => {
  for (const { name, uuid, reason } of [
    { name: "as clones do", uuid: cloned, reason: "UuidShared" },
    { name: "of a vendor", uuid: vendor, reason: "UuidOfVendor" },
    { name: "of zeros", uuid: "00000000-0000-0000-0000-000000000000", reason: "UuidOfVendor" },
  ])
    test(`IN62: ${name} become a cluster, and are named`, () =>
      tell({ machines: machines(uuid) }, async (world) => {
        await ready(world);
        assert.equal((await world.condition(kinds.controlPlane, "IdentityUnique"))?.reason, reason);
        assert.match((await world.condition(kinds.machine, "IdentityUnique", `demo-${worker}`))?.message ?? "", /Hardware addresses tell/);
        assert.equal(world.datacenter.etcdClusters().length, 1);
      }));

  test("IN62: are told apart by hardware address when they swap addresses: nothing is sent to either", () =>
    tell({ machines: machines(cloned) }, async (world) => {
      await ready(world);
      const sent = world.sent.length;
      world.reroute("10.5.0.2", "10.5.0.3");
      world.reroute("10.5.0.3", "10.5.0.2");
      await world.until(
        "said",
        async () => (await world.condition(kinds.machine, "Ready", "demo-10.5.0.2"))?.reason === "IdentityMismatch",
        120,
      );
      assert.match((await world.condition(kinds.machine, "Ready", "demo-10.5.0.2"))?.message ?? "", /it is demo-10\.5\.0\.3/);
      await world.time.advance(60_000);
      assert.equal(world.sent.length, sent);
      world.reroute("10.5.0.2", undefined);
      world.reroute("10.5.0.3", undefined);
      await world.untilReady();
    }));

  test("IN62: and a hardware address are one machine at two addresses: whoever is seen first is it, the other gets nothing", () =>
    tell({ machines: machines(cloned, { "10.5.0.2": "02:00:00:00:00:01", "10.5.0.3": "02:00:00:00:00:01" }) }, async (world) => {
      await apply(world, kinds.cluster, demoCluster(cps, [worker]));
      await world.start();
      await assertStoppedBy(world, kinds.controlPlane, { reason: "MachineInUse", says: /10\.5\.0\.[23].*Remove one of the two entries/ });
      await world.time.advance(60_000);
      assert.ok(world.sent.filter((call) => /10\.5\.0\.[23]$/.test(call)).length <= 1, world.sent.join(", "));
    }));

  test("are wiped one by one where that is asked for, each by what it is", () =>
    tell({ machines: machines(cloned) }, async (world) => {
      await ready(world);
      await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
      await world.until("gone", async () => (await world.get(kinds.controlPlane)) === undefined, 600);
      assert.deepEqual(
        world.effects.filter((call) => call.startsWith("Reset")).toSorted(),
        [...cps, worker].map((address) => `Reset ${address}`),
      );
    }));
});
