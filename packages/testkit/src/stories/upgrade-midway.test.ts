// What happens to a cluster in the middle of an upgrade of Talos, beside edits of versions (upgrade-edits.test.ts).
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosDialer } from "@talos-operator/ports";
import { demoTimings } from "@talos-operator/simulator";
import { withUnary } from "../world/with-calls.ts";
import { asPerson } from "./as-person.ts";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";
import { watchQuorum } from "./watch-quorum.ts";

const demo = { namespace: "default", name: "demo" };
const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];
const all = [...cps, ...workers];

async function ready(world: Story, over: Record<string, unknown> = {}): Promise<number> {
  await apply(world, kinds.cluster, demoCluster(cps, workers, over));
  await world.start();
  await world.untilReady();
  return world.sent.length;
}

const edit = (world: Story, spec: object): Promise<unknown> =>
  world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec } });
const ask = (world: Story, version: string): Promise<unknown> => edit(world, { controlPlane: { version }, worker: { version } });
const pending = (world: Story) => world.condition(kinds.controlPlane, "UpgradePending");
const versionAt = (world: Story, address: string): string => world.datacenter.machine(address).state.hardware.talosVersion;
const sentTo = (world: Story, sent: number, call: string): readonly string[] =>
  world.sent.slice(sent).flatMap((one) => (one.startsWith(`${call} `) ? [one.slice(call.length + 1)] : []));

async function upgraded(world: Story, version: string, addresses = all): Promise<void> {
  await world.until(`all run ${version}`, async () => addresses.every((address) => versionAt(world, address) === version), 3_600);
  await world.until("nothing is pending", async () => (await pending(world)) === undefined, 1_800);
}

describe("in the middle of an upgrade", () => {
  test("a machine that is added comes to what is asked for, like all others", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world);
      await ask(world, "v1.13.10");
      await world.until("booting", async () => world.sent.includes("Reboot 10.5.0.2"), 300);
      await edit(world, { worker: { metalSpec: { machines: [...workers, "10.5.0.6"].map((address) => ({ address })) } } });
      await upgraded(world, "v1.13.10", [...all, "10.5.0.6"]);
      await world.untilReady(900);
    }));

  test("a control plane that dies stops the next one, and it goes on when that is back", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world);
      await ask(world, "v1.13.10");
      await world.until(
        "the first is done",
        async () =>
          (await world.get(kinds.record))?.spec?.["openControlPlaneIntent"] === undefined && versionAt(world, "10.5.0.2") === "v1.13.10",
        600,
      );
      world.datacenter.machine("10.5.0.1").powerOff();
      await world.time.advance(900_000);
      assert.deepEqual(sentTo(world, sent, "Reboot"), ["10.5.0.2"]);
      assert.match((await pending(world))?.message ?? "", /demo-10\.5\.0\.1/);
      world.datacenter.machine("10.5.0.1").powerOn();
      await upgraded(world, "v1.13.10");
    }));

  test("the cluster is deleted: nothing more is installed, and every machine is wiped", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world);
      await ask(world, "v1.13.10");
      await world.until("installing", async () => world.sent.includes("Upgrade 10.5.0.2"), 300);
      await world.client.resource(kinds.cluster).delete(demo);
      await world.until("gone", async () => (await world.get(kinds.controlPlane)) === undefined, 1_800);
      assert.deepEqual(sentTo(world, sent, "Upgrade"), ["10.5.0.2"]);
      for (const address of all) assert.equal(world.datacenter.machine(address).state.stage, "maintenance", address);
    }));

  for (const skewMs of [-240_000, 240_000])
    test(`the clock is set ${skewMs < 0 ? "back" : "forward"} by minutes: it goes on, and each machine boots once`, () => {
      let aheadMs = 0;
      return tell({ timings: demoTimings, operatorClock: (real) => ({ now: () => real.now() + aheadMs }) }, async (world) => {
        const sent = await ready(world);
        await ask(world, "v1.13.10");
        await world.until("booting", async () => world.sent.includes("Reboot 10.5.0.2"), 300);
        aheadMs = skewMs;
        await upgraded(world, "v1.13.10");
        assert.deepEqual(sentTo(world, sent, "Reboot").toSorted(), all);
      });
    });

  const sixHours = 6 * 3_600_000;
  for (const call of ["Pull", "Upgrade", "Reboot"]) {
    test(`the clock is set forward by hours after the call ${call}: it goes on, and each machine is installed and boots once`, () => {
      let aheadMs = 0;
      return tell({ timings: demoTimings, operatorClock: (real) => ({ now: () => real.now() + aheadMs }) }, async (world) => {
        const sent = await ready(world);
        await ask(world, "v1.13.10");
        await world.until(call, async () => world.sent.includes(`${call} 10.5.0.2`), 300);
        aheadMs = sixHours;
        await upgraded(world, "v1.13.10");
        for (const once of ["Upgrade", "Reboot"]) assert.deepEqual(sentTo(world, sent, once).toSorted(), all);
      });
    });

    test(`the clock is set back by hours after the call ${call}: nothing is blamed on the version while no certificate can be read, and it goes on when that is right`, () => {
      let aheadMs = 0;
      return tell({ timings: demoTimings, operatorClock: (real) => ({ now: () => real.now() + aheadMs }) }, async (world) => {
        const sent = await ready(world);
        await ask(world, "v1.13.10");
        await world.until(call, async () => world.sent.includes(`${call} 10.5.0.2`), 300);
        aheadMs = -sixHours;
        await world.until("told", async () => (await world.condition(kinds.controlPlane, "Ready"))?.reason === "ClockSkewed", 120);
        await world.time.advance(2_400_000);
        assert.equal((await world.get(kinds.record))?.spec?.["quarantine"], undefined);
        aheadMs = 0;
        await upgraded(world, "v1.13.10");
        for (const once of ["Upgrade", "Reboot"]) assert.deepEqual(sentTo(world, sent, once).toSorted(), all);
      });
    });
  }

  test("the clock was ahead by hours and is set right while a machine boots: it goes on, and each machine boots once", () => {
    let aheadMs = sixHours;
    return tell({ timings: demoTimings, operatorClock: (real) => ({ now: () => real.now() + aheadMs }) }, async (world) => {
      const sent = await ready(world);
      await ask(world, "v1.13.10");
      await world.until("booting", async () => world.sent.includes("Reboot 10.5.0.2"), 300);
      aheadMs = 0;
      await upgraded(world, "v1.13.10");
      for (const once of ["Upgrade", "Reboot"]) assert.deepEqual(sentTo(world, sent, once).toSorted(), all);
    });
  });

  test("a machine comes up with a clock that is wrong by hours: its Talos is not blamed for that, nobody else is touched, and it goes on when the clock is right", () => {
    let isWrong = false;
    const expired = { name: "TalosCallFailure", code: 14, tls: "client-refused", byTime: true } as const;
    const refuse = (): Promise<never> => Promise.reject(Object.assign(new Error("remote error: tls: expired certificate"), expired));
    const dialer = (real: TalosDialer): TalosDialer =>
      withUnary(real, ({ address, channel }) => (method, request, options) => {
        const isItself = (options?.node ?? address) === "10.5.0.2";
        return isWrong && isItself ? refuse() : channel.unary(method, request, options);
      });
    return tell({ timings: demoTimings, dialer }, async (world) => {
      const sent = await ready(world);
      await ask(world, "v1.13.10");
      await world.until("booting", async () => world.sent.includes("Reboot 10.5.0.2"), 300);
      isWrong = true;
      await world.time.advance(2_400_000);
      assert.deepEqual(sentTo(world, sent, "Reboot"), ["10.5.0.2"]);
      assert.equal((await world.get(kinds.record))?.spec?.["quarantine"], undefined);
      const told = await world.condition(kinds.controlPlane, "Ready");
      assert.equal(told?.reason, "ClockSkewed");
      assert.match(told.message, /demo-10\.5\.0\.2.*Set the clocks/);
      isWrong = false;
      await upgraded(world, "v1.13.10");
      for (const once of ["Upgrade", "Reboot"]) assert.deepEqual(sentTo(world, sent, once).toSorted(), all);
    });
  });

  test("another process takes over whose clock is ahead by hours, while a machine boots: it goes on, and each machine boots once", () => {
    let aheadMs = 0;
    return tell({ timings: demoTimings, operatorClock: (real) => ({ now: () => real.now() + aheadMs }) }, async (world) => {
      const sent = await ready(world);
      await ask(world, "v1.13.10");
      await world.until("booting", async () => world.sent.includes("Reboot 10.5.0.2"), 300);
      await world.kill();
      aheadMs = sixHours;
      await world.start();
      await upgraded(world, "v1.13.10");
      for (const once of ["Upgrade", "Reboot"]) assert.deepEqual(sentTo(world, sent, once).toSorted(), all);
    });
  });

  test("the registry goes: what is not pulled yet is told, and it goes on when the registry is back", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world);
      await ask(world, "v1.13.10");
      await world.until("booting", async () => world.sent.includes("Reboot 10.5.0.2"), 300);
      world.datacenter.setReleaseFault("v1.13.10", { image: "missing" });
      await world.until("told", async () => /could not be pulled/.test((await pending(world))?.message ?? ""), 900);
      await world.time.advance(600_000);
      assert.deepEqual(sentTo(world, sent, "Upgrade"), ["10.5.0.2"]);
      assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.status, "True");
      world.datacenter.setReleaseFault("v1.13.10", {});
      await upgraded(world, "v1.13.10");
    }));

  test("somebody upgrades a machine by hand beside it: that machine is left alone, and the others come to the same", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world);
      await ask(world, "v1.13.10");
      await world.until("booting", async () => world.sent.includes("Reboot 10.5.0.2"), 300);
      const before = world.sent.length;
      const image = "ghcr.io/siderolabs/installer:v1.13.10";
      // It answers when the installer has ended, for which time has to pass.
      const answered = asPerson(world, "10.5.0.5", (client) => client.upgrade({ image, preserve: true }, { timeoutMs: 60_000 }));
      await world.time.advance(10_000);
      const byHand = world.sent.slice(before).filter((call) => call === "Upgrade 10.5.0.5").length;
      await upgraded(world, "v1.13.10");
      await answered;
      assert.equal(byHand, 1);
      assert.equal(sentTo(world, sent, "Upgrade").filter((one) => one === "10.5.0.5").length, byHand);
      assert.deepEqual(sentTo(world, sent, "Reboot").toSorted(), [...cps, "10.5.0.4"]);
    }));

  test("control planes go one at a time whatever maxUnavailable says, and that is told", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world, { rolloutStrategy: { rollingUpdate: { maxUnavailable: 3 } } });
      assert.match(
        (await world.condition(kinds.controlPlane, "FieldNotSupported"))?.message ?? "",
        /maxUnavailable: 3 \(taken as 1; control planes/,
      );
      await ask(world, "v1.13.10");
      let most = 0;
      await world.until(
        "all run it",
        async () => {
          most = Math.max(most, cps.filter((address) => !world.datacenter.machine(address).state.kubernetes.isNodeReady).length);
          return all.every((address) => versionAt(world, address) === "v1.13.10");
        },
        3_600,
      );
      assert.equal(most, 1);
      assert.deepEqual(sentTo(world, sent, "Reboot"), ["10.5.0.2", "10.5.0.3", "10.5.0.1", ...workers]);
    }));

  const etcdOf = (world: Story) => {
    const [etcd] = world.datacenter.etcdClusters();
    assert.ok(etcd !== undefined);
    return etcd;
  };
  const leaderOf = (world: Story): string => {
    const { members, leader } = etcdOf(world);
    return new URL(members.find(({ id }) => id === leader)?.peerUrl ?? "").hostname;
  };
  /** The second control plane is under way, and the first one is done. */
  const second = (world: Story): Promise<void> =>
    world.until("the next one is installed", async () => world.sent.includes("Upgrade 10.5.0.3"), 600);

  test("the leader of etcd moves to the next follower between its installation and its boot: it hands over before it boots", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world);
      assert.equal(leaderOf(world), "10.5.0.1");
      await ask(world, "v1.13.10");
      await world.until("the first one is installed", async () => world.sent.includes("Upgrade 10.5.0.2"), 600);
      await asPerson(world, "10.5.0.1", (client) => client.etcdForfeitLeadership({ timeoutMs: 10_000 }));
      assert.equal(leaderOf(world), "10.5.0.2");
      assert.ok(!world.sent.includes("Reboot 10.5.0.2"));
      const before = world.sent.length;
      await upgraded(world, "v1.13.10");
      const calls = world.sent.slice(before).filter((call) => call.endsWith(" 10.5.0.2"));
      assert.deepEqual(calls, ["EtcdForfeitLeadership 10.5.0.2", "Reboot 10.5.0.2"]);
      for (const once of ["Upgrade", "Reboot"]) assert.deepEqual(sentTo(world, sent, once).toSorted(), all);
    }));

  test("etcd is full: no control plane boots before its members are defragmented and the alarm is taken back, and it goes on", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world);
      const database = world.datacenter.etcdDatabase(etcdOf(world).key);
      assert.ok(database !== undefined);
      await ask(world, "v1.13.10");
      await second(world);
      database.fill();
      await upgraded(world, "v1.13.10");
      assert.deepEqual(database.alarms(), []);
      const calls = world.sent.slice(sent);
      const disarmed = calls.findIndex((call) => call.startsWith("EtcdAlarmDisarm"));
      assert.equal(calls.filter((call) => call.startsWith("EtcdDefragment")).length, 3);
      assert.ok(disarmed > 0 && disarmed < calls.indexOf("Reboot 10.5.0.3"), calls.join(", "));
      for (const once of ["Upgrade", "Reboot"]) assert.deepEqual(sentTo(world, sent, once).toSorted(), all);
      await world.untilReady(300);
    }));

  for (const address of ["10.5.0.2", "10.5.0.3"])
    test(`the data of ${address} go wrong while 10.5.0.3 is installed: it leaves and joins anew before another control plane boots, and the upgrade goes on`, () =>
      tell({ timings: demoTimings }, async (world) => {
        const sent = await ready(world);
        const database = world.datacenter.etcdDatabase(etcdOf(world).key);
        assert.ok(database !== undefined);
        await ask(world, "v1.13.10");
        await second(world);
        const guard = watchQuorum(world);
        world.datacenter.machine(address).corruptEtcd();
        await upgraded(world, "v1.13.10");
        guard.end();
        assert.deepEqual(database.alarms(), []);
        const calls = world.sent.slice(sent);
        assert.deepEqual(sentTo(world, sent, "EtcdLeaveCluster"), [address]);
        const left = calls.indexOf(`EtcdLeaveCluster ${address}`);
        assert.ok(left < calls.indexOf("Reboot 10.5.0.1"), calls.join(", "));
        assert.deepEqual(sentTo(world, sent, "Upgrade").toSorted(), all);
        await world.untilReady(300);
      }));
});
