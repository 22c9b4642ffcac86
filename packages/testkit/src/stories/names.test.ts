import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosDialer } from "@talos-operator/ports";
import { apply, assertOnlyWorkersTrouble, assertStoppedBy } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const name = "cp.machines.example.com";

async function begin(world: Story): Promise<void> {
  await apply(world, kinds.cluster, demoCluster([name]));
  await world.start();
}

describe("a machine that is given by its DNS name", () => {
  test("becomes a cluster, under a name that does not hold the dots", () =>
    tell({ names: new Map([[name, ["10.5.0.1"]]]) }, async (world) => {
      await begin(world);
      await world.untilReady();
      const machines = await world.client.resource(kinds.machine).list({ namespace: "default" });
      assert.match(machines.items[0]?.metadata?.name ?? "", /^demo-[0-9a-f]{8}$/);
      await world.time.advance(300_000);
      assert.equal((await world.condition(kinds.cluster, "Ready"))?.status, "True");
    }));

  test("is looked at over one connection while its name leads to the same address", () => {
    let dials = 0;
    const dialer = (real: TalosDialer): TalosDialer => ({
      dial: (target, credentials) => {
        dials += 1;
        return real.dial(target, credentials);
      },
      reaches: (target, timeoutMs) => real.reaches(target, timeoutMs),
      hold: (target, options) => real.hold(target, options),
    });
    return tell({ names: new Map([[name, ["10.5.0.1"]]]), dialer }, async (world) => {
      await begin(world);
      await world.untilReady();
      await world.time.advance(120_000);
      const before = dials;
      await world.time.advance(1_800_000);
      assert.equal(dials - before, 0);
    });
  });

  const refused: readonly { readonly name: string; readonly answer: readonly string[]; readonly reason: string; readonly says: RegExp }[] =
    [
      {
        name: "IN44: leads to loopback",
        answer: ["127.0.0.1"],
        reason: "AddressRefused",
        says: /leads in DNS to an address where no machine can be.*own host/,
      },
      { name: "IN47: leads to loopback beside a good address", answer: ["10.5.0.1", "::1"], reason: "AddressRefused", says: /own host/ },
      { name: "IN45: leads to a metadata service", answer: ["169.254.169.254"], reason: "AddressRefused", says: /metadata service/ },
      { name: "IN44: leads to loopback in IPv6 clothes", answer: ["::ffff:127.0.0.1"], reason: "AddressRefused", says: /IPv6 clothes/ },
      {
        name: "IN48: has a thousand addresses",
        answer: Array.from({ length: 1_000 }, (_, n) => `10.6.${n >> 8}.${n & 255}`),
        reason: "AddressRefused",
        says: /more than 16 addresses/,
      },
      { name: "has no address", answer: [], reason: "NameUnresolved", says: /has no address in DNS/ },
    ];
  for (const { name: what, answer, reason, says } of refused)
    test(`${what}: nothing is connected to, and it is said with the remedy`, () =>
      tell({ names: new Map([[name, answer]]) }, async (world) => {
        await begin(world);
        await assertStoppedBy(world, kinds.controlPlane, { reason, says });
        assert.match((await world.condition(kinds.controlPlane, "Ready"))?.message ?? "", /DNS/);
        assert.deepEqual(world.sent, []);
      }));

  test("IN47: leads elsewhere after it was checked: the new address is checked too, and the cluster says why it asks nobody", () => {
    const names = new Map([[name, ["10.5.0.1"]]]);
    return tell({ names }, async (world) => {
      await begin(world);
      await world.untilReady();
      const sent = world.sent.length;
      names.set(name, ["127.0.0.1"]);
      await world.until("said", async () => (await world.condition(kinds.controlPlane, "Ready"))?.reason === "AddressRefused", 180);
      assert.equal(world.sent.length, sent);
      names.set(name, ["10.5.0.1"]);
      await world.untilReady();
    });
  });

  test("IN54: leads to another machine of the cluster: told apart, nothing sent", () => {
    const names = new Map([
      [name, ["10.5.0.1"]],
      ["worker.machines.example.com", ["10.5.0.4"]],
    ]);
    return tell({ names }, async (world) => {
      await apply(world, kinds.cluster, demoCluster([name], ["worker.machines.example.com"]));
      await world.start();
      await world.untilReady();
      const sent = world.sent.length;
      names.set("worker.machines.example.com", ["10.5.0.1"]);
      // The certificate of the machine there does not hold the name.
      await world.until("said", async () => (await world.condition(kinds.worker, "Ready"))?.reason === "IdentityMismatch", 180);
      await world.time.advance(60_000);
      await assertOnlyWorkersTrouble(world, "IdentityMismatch");
      assert.equal(world.sent.length, sent);
      names.set("worker.machines.example.com", ["10.5.0.4"]);
      await world.untilReady();
    });
  });

  test("IN55: has several addresses in an order that changes: the same one is taken", () => {
    let turn = 0;
    const names = { get: () => ((turn += 1) % 2 === 0 ? ["10.5.0.1", "fd00::1"] : ["fd00::1", "10.5.0.1"]) } as unknown as ReadonlyMap<
      string,
      readonly string[]
    >;
    return tell({ names }, async (world) => {
      await begin(world);
      await world.untilReady();
    });
  });
});

test("IN55: machines with IPv6 addresses become a cluster, in whatever spelling", () =>
  tell({ machines: [{ address: "fd00:5::1" }, { address: "fd00:5::4" }] }, async (world) => {
    const networks = { podCIDR: ["fd00:10:244::/56"], serviceCIDR: ["fd00:10:96::/112"] };
    await apply(world, kinds.cluster, demoCluster(["fd00:5:0::0001"], ["FD00:5::4"], networks));
    await world.start();
    await world.untilReady();
  }));

describe("clocks", () => {
  for (const hours of [-1, -24])
    test(`IN64: an operator whose clock is ${-hours} h behind says that it is a clock, not an impostor`, () => {
      let skewMs = 0;
      return tell({ operatorClock: (real) => ({ now: () => real.now() + skewMs }) }, async (world) => {
        await apply(world, kinds.cluster, demoCluster(["10.5.0.1"]));
        await world.start();
        await world.untilReady();
        skewMs = hours * 3_600_000;
        const sent = world.sent.length;
        world.datacenter.machine("10.5.0.1").powerCycle();
        await world.until("said", async () => (await world.condition(kinds.controlPlane, "Ready"))?.reason === "ClockSkewed", 180);
        assert.match((await world.condition(kinds.controlPlane, "Ready"))?.message ?? "", /clock.*Set the clocks/);
        assert.match((await world.condition(kinds.controlPlane, "MachinesReady"))?.message ?? "", /certificates refused for their dates/);
        assert.equal(world.sent.length, sent);
        skewMs = 0;
        await world.untilReady();
      });
    });
});
