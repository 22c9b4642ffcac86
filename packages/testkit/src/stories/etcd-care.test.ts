import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { annotations } from "@talos-operator/api";
import type { EtcdDatabase } from "@talos-operator/simulator";
import { Interruption } from "./interruption.ts";
import { databaseOf, healed, isFull, sentTo } from "./full-etcd.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";
import { watchQuorum } from "./watch-quorum.ts";

const at = (...numbers: readonly number[]): readonly string[] => numbers.map((n) => `10.5.0.${n}`);

/** A ready cluster of so many control planes. */
function ready(count: number, story: (world: Story) => Promise<void>): Promise<void> {
  return tell({}, async (world) => {
    await world.client
      .resource<TalosCluster>(kinds.cluster)
      .create(demoCluster(at(...Array.from({ length: count }, (_, index) => index + 1))));
    await world.start();
    await world.untilReady();
    await story(world);
  });
}

function leaderOf(world: Story): string {
  const [etcd] = world.datacenter.etcdClusters();
  const leader = etcd?.members.find(({ id }) => id === etcd.leader);
  return new URL(leader?.peerUrl ?? "").hostname;
}

describe("an etcd that is full", () => {
  for (const count of [1, 3, 5])
    test(`of ${count} heals by itself: one member after the other, the leader last, then the alarm is taken back once`, () =>
      ready(count, async (world) => {
        databaseOf(world).fill();
        await world.until("told", async () => isFull(world), 120);
        await healed(world);
        const asked = sentTo(world, "EtcdDefragment");
        assert.equal(asked.length, count);
        assert.equal(new Set(asked).size, count);
        assert.equal(asked.at(-1), `EtcdDefragment ${leaderOf(world)}`);
        assert.equal(sentTo(world, "EtcdAlarmDisarm").length, 1);
      }));

  const free: readonly (readonly [string, (world: Story, database: EtcdDatabase) => Promise<unknown>])[] = [
    ["and something else is deleted", async (_world, database) => database.erase(1_000)],
    [
      "and a member is named to be defragmented",
      async (world) => world.annotate(kinds.controlPlane, annotations.defragment, "demo-10.5.0.3"),
    ],
  ];
  for (const [what, then] of free)
    test(`that defragmenting would not help is left alone, and says what a person must do; it goes on once that is done ${what}`, () =>
      ready(3, async (world) => {
        const database = databaseOf(world);
        database.fill(0.99);
        await world.until("told", async () => isFull(world), 120);
        await world.time.advance(20 * 60_000);
        const { message = "" } = (await world.condition(kinds.controlPlane, "EtcdHealthy")) ?? {};
        assert.match(
          message,
          /defragmenting would free nothing.*TalosCluster\/demo spec\.controlPlane\.metalSpec\.machineSpec\.configPatches, .*docs\/runbooks\/etcd-no-space\.md/,
        );
        for (const type of [kinds.controlPlane, kinds.cluster]) {
          const stalled = await world.condition(type, "Stalled");
          assert.equal(stalled?.reason, "PersonNeeded", type.kind);
          assert.match(stalled.message, /defragmenting would free nothing.*TalosCluster\/demo spec\.controlPlane\.metalSpec\./);
          assert.equal(await world.condition(type, "Reconciling"), undefined);
        }
        const ready = (await world.condition(kinds.controlPlane, "Ready"))?.message ?? "";
        assert.doesNotMatch(ready, /power|replaced/, "nothing is wrong with a machine");
        assert.deepEqual([sentTo(world, "EtcdDefragment"), sentTo(world, "EtcdAlarmDisarm")], [[], []]);
        // Objects are deleted, and etcd compacted: members go on telling what was in use before.
        database.erase(1_500_000_000);
        database.compact();
        await world.time.advance(20 * 60_000);
        assert.deepEqual(sentTo(world, "EtcdDefragment"), []);
        await then(world, database);
        await healed(world);
        assert.equal(sentTo(world, "EtcdDefragment").length, 3);
        assert.equal((await world.get(kinds.controlPlane))?.metadata?.annotations?.[annotations.defragment], undefined);
      }));

  const runbook = readFileSync(new URL("../../../../docs/runbooks/etcd-no-space.md", import.meta.url), "utf8");
  /** As the runbook has it. */
  const patchOf = (kind: string): Readonly<Record<string, unknown>> =>
    JSON.parse(new RegExp(`kubectl patch ${kind} NAME --type merge -p '(.*)'`).exec(runbook)?.[1] ?? "") as Readonly<
      Record<string, unknown>
    >;
  const withLargerQuota = (world: Story): Promise<unknown> =>
    world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value: patchOf("taloscluster") });

  test("has the same patch in the runbook for a TalosControlPlane that nobody made", () => {
    const { controlPlane: spec } = patchOf("taloscluster")["spec"] as { readonly controlPlane: unknown };
    assert.deepEqual(patchOf("taloscontrolplane"), { spec });
  });

  for (const count of [1, 3, 5])
    test(`of ${count} that is full of content is healed by a larger quota: each is booted for it, one after the other, and the alarm is taken back once`, () =>
      ready(count, async (world) => {
        databaseOf(world).fill(0.99);
        const quorum = count === 1 ? undefined : watchQuorum(world);
        await world.until("told", async () => isFull(world), 120);
        await withLargerQuota(world);
        await healed(world);
        assert.deepEqual(
          sentTo(world, "Reboot").toSorted(),
          at(...Array.from({ length: count }, (_, n) => n + 1)).map((one) => `Reboot ${one}`),
        );
        assert.deepEqual([sentTo(world, "EtcdDefragment").length, sentTo(world, "EtcdAlarmDisarm").length], [0, 1]);
        quorum?.end();
        await world.until("settled", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.status === "True", 300);
      }));

  test("has the larger quota that is asked for in its plan: who boots for it, and that the alarm is taken back then", () =>
    ready(3, async (world) => {
      databaseOf(world).fill(0.99);
      const told = async (): Promise<string> => (await world.condition(kinds.controlPlane, "EtcdHealthy"))?.message ?? "";
      const advice = /raise quota-backend-bytes .* with which every control plane is booted, one after the other/;
      await world.until("told", async () => advice.test(await told()), 120);
      await world.annotate(kinds.cluster, annotations.reconcileMode, "dryrun");
      await withLargerQuota(world);
      const plan = async (): Promise<string> => (await world.condition(kinds.controlPlane, "DryRun"))?.message ?? "";
      await world.until("planned", async () => (await plan()).includes("quota-backend-bytes"), 300);
      for (const address of at(1, 2, 3)) assert.match(await plan(), new RegExp(`Send the changed configuration[^]*demo-${address}`));
      assert.match(await plan(), /Take back the alarms of etcd: demo-/);
    }));

  test("is booted for a larger quota alone: other settings wait for the end of the alarm, which is said", () =>
    ready(3, async (world) => {
      databaseOf(world).fill(0.99);
      await world.until("told", async () => isFull(world), 120);
      const before = world.sent.length;
      const configPatches = [{ cluster: { etcd: { extraArgs: { "quota-backend-bytes": "1073741824" } } } }];
      const spec = { controlPlane: { metalSpec: { machineSpec: { configPatches } } } };
      await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec } });
      await world.time.advance(300_000);
      assert.equal(world.sent.length, before);
      const message = (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.message ?? "";
      assert.match(message, /raises an alarm .*see the condition EtcdHealthy/);
    }));

  test("is healed by the next leader, when the one before dies in the middle", () =>
    ready(3, async (world) => {
      world.datacenter.machine("10.5.0.2").setDefragmentTime(60_000);
      databaseOf(world).fill();
      await world.until("in the middle", async () => sentTo(world, "EtcdDefragment 10.5.0.2").length > 0, 600);
      await world.kill();
      await world.start();
      await healed(world);
      assert.equal(sentTo(world, "EtcdAlarmDisarm").length, 1);
    }));

  test("waits for a member that never ends its defragmentation, asks it once, and asks no other one meanwhile", () =>
    ready(3, async (world) => {
      const stuck = at(1, 2, 3).find((address) => address !== leaderOf(world)) ?? "";
      world.datacenter.machine(stuck).setDefragmentTime("never");
      databaseOf(world).fill();
      await world.until("asked", async () => sentTo(world, `EtcdDefragment ${stuck}`).length > 0, 600);
      await world.time.advance(30 * 60_000);
      assert.deepEqual(sentTo(world, "EtcdDefragment"), [`EtcdDefragment ${stuck}`]);
      assert.match((await world.condition(kinds.controlPlane, "EtcdHealthy"))?.message ?? "", new RegExp(`demo-${stuck}`));
      world.datacenter.machine(stuck).setDefragmentTime(1_000);
      world.datacenter.machine(stuck).powerCycle();
      await healed(world);
    }));

  test("whose alarm comes back at once is not defragmented again and again", () =>
    ready(3, async (world) => {
      const database = databaseOf(world);
      database.fill();
      await healed(world);
      for (let round = 0; round < 5; round += 1) {
        database.fill();
        await world.time.advance(60_000);
      }
      assert.equal(sentTo(world, "EtcdDefragment").length, 3);
      assert.match((await world.condition(kinds.controlPlane, "EtcdHealthy"))?.message ?? "", /find out what writes so much/);
    }));

  test("whose alarm comes back although every file has room has it taken back every ten minutes, and says what a person must look at", () =>
    ready(3, async (world) => {
      const database = databaseOf(world);
      for (let round = 0; round < 32; round += 1) {
        if (database.alarms().length === 0) {
          // The operator sees that it is gone before it is raised again.
          await world.time.advance(10_000);
          world.datacenter.machine("10.5.0.2").setEtcdAlarm("NOSPACE");
        }
        await world.time.advance(47_000);
      }
      assert.match(
        (await world.condition(kinds.controlPlane, "EtcdHealthy"))?.message ?? "",
        /demo-10\.5\.0\.2 is back within ten minutes.*reboot.*docs\/runbooks\/etcd-no-space\.md/,
      );
      const count = sentTo(world, "EtcdAlarmDisarm").length;
      assert.ok(count >= 2 && count <= 3, String(count));
      assert.deepEqual(sentTo(world, "EtcdDefragment"), []);
    }));
});

describe("an alarm that comes when a control plane is about to leave", () => {
  const corrupt = (world: Story): void => {
    const wrong = at(1, 2, 3).find((address) => address !== leaderOf(world)) ?? "";
    world.datacenter.machine(wrong).corruptEtcd();
  };
  const full = (world: Story): void => databaseOf(world).fill();
  for (const [cause, raise, side, what, call, isDead] of [
    ["a full etcd", full, "before", "a wipe", /^Reset/, false],
    ["a full etcd", full, "after", "a wipe", /^Reset/, false],
    ["a full etcd", full, "before", "the removal of a dead member", /^EtcdRemoveMemberByID/, true],
    ["a member with wrong data", corrupt, "before", "a wipe", /^Reset/, false],
    ["a member with wrong data", corrupt, "before", "the removal of a dead member", /^EtcdRemoveMemberByID/, true],
  ] as const)
    test(`is cured although the operator died right ${side} it sent ${what}: ${cause}`, () => {
      const cut = new Interruption();
      return tell({ dialer: cut.dialer }, async (world) => {
        await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(at(1, 2, 3, 4, 5)));
        await world.start();
        await world.untilReady();
        if (isDead) world.datacenter.machine("10.5.0.5").powerOff();
        cut.begin({ call, side, isKilled: true }, async () => raise(world));
        const wanted = isDead ? at(1, 2, 3, 4, 6) : at(1, 2, 3);
        const spec = { controlPlane: { metalSpec: { machines: wanted.map((address) => ({ address })) } } };
        await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec } });
        await world.until("met", async () => cut.metAt !== undefined, 900);
        await cut.tend(world);
        await world.until("the alarm is gone", async () => databaseOf(world).alarms().length === 0, 3_600);
        const members = (): readonly string[] =>
          (world.datacenter.etcdClusters()[0]?.members ?? []).map(({ peerUrl }) => new URL(peerUrl).hostname).toSorted();
        await world.until("left", async () => members().join() === wanted.join(), 3_600);
        assert.deepEqual(databaseOf(world).alarms(), []);
      });
    });
});

describe("an etcd that is full while control planes are away", () => {
  const members = (world: Story): string =>
    (world.datacenter.etcdClusters()[0]?.members ?? [])
      .filter(({ isLearner }) => !isLearner)
      .map(({ peerUrl }) => new URL(peerUrl).hostname)
      .toSorted()
      .join();
  const list = (world: Story, addresses: readonly string[]): Promise<unknown> => {
    const spec = { controlPlane: { metalSpec: { machines: addresses.map((address) => ({ address })) } } };
    return world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec } });
  };
  const withQuorum = async (world: Story, act: () => Promise<void>): Promise<void> => {
    const guard = watchQuorum(world);
    try {
      await act();
    } finally {
      guard.end();
    }
  };
  const word = async (world: Story): Promise<string | undefined> =>
    /approve-reprovision: (\S+)/.exec((await world.condition(kinds.controlPlane, "Ready"))?.message ?? "")?.[1];

  test("one of three that got another disk joins anew first, for only then may another one be defragmented", () =>
    ready(3, async (world) => {
      const replaced = world.datacenter.machine("10.5.0.3");
      replaced.powerOff();
      replaced.replaceDisk();
      databaseOf(world).fill();
      replaced.powerOn();
      await withQuorum(world, async () => {
        await world.until("asked for", async () => (await word(world)) !== undefined, 300);
        await world.time.advance(120_000);
        assert.deepEqual([sentTo(world, "EtcdDefragment"), members(world)], [[], at(1, 2, 3).join()]);
        await world.annotate(kinds.controlPlane, annotations.approveReprovision, await word(world));
        await healed(world);
      });
      assert.equal(new Set(sentTo(world, "EtcdDefragment")).size, 3);
      assert.equal(members(world), at(1, 2, 3).join());
    }));

  for (const [what, before, dead, after] of [
    ["one of three", 3, [3], at(1, 2, 4)],
    ["two of five", 5, [4, 5], at(1, 2, 3)],
  ] as const)
    test(`${what}, dead and taken off the list, leave etcd under the alarm, and it heals by itself`, () =>
      ready(before, async (world) => {
        for (const address of at(...dead)) world.datacenter.machine(address).powerOff();
        databaseOf(world).fill();
        await withQuorum(world, async () => {
          await list(world, after);
          await healed(world);
        });
        assert.equal(members(world), after.join());
      }));
});

describe("a member whose file has more free pages than content", () => {
  /** Files of a gibibyte, of which so much is in use, and no alarm. */
  function fragmented(world: Story): EtcdDatabase {
    const database = databaseOf(world);
    database.put(400_000_000);
    database.erase(390_000_000);
    database.compact();
    return database;
  }

  test("is defragmented, one after the other, and then not before a day has passed", () =>
    ready(3, async (world) => {
      const database = fragmented(world);
      await world.until("all", async () => sentTo(world, "EtcdDefragment").length === 3, 1_800);
      assert.equal(sentTo(world, "EtcdDefragment").at(-1), `EtcdDefragment ${leaderOf(world)}`);
      await world.untilReady();
      fragmented(world);
      await world.time.advance(30 * 60_000);
      assert.equal(sentTo(world, "EtcdDefragment").length, 3);
      assert.deepEqual(database.alarms(), []);
    }));

  test("is left alone while the cluster is paused", () =>
    ready(3, async (world) => {
      await world.annotate(kinds.controlPlane, annotations.reconcileMode, "disable");
      await world.time.advance(5_000);
      fragmented(world);
      await world.time.advance(30 * 60_000);
      assert.deepEqual(sentTo(world, "EtcdDefragment"), []);
    }));

  test("is defragmented at once when a person names it, whatever its size; a name that nobody has is answered", () =>
    ready(3, async (world) => {
      const database = databaseOf(world);
      database.put(20_000_000);
      database.erase(10_000_000);
      database.compact();
      await world.annotate(kinds.controlPlane, annotations.defragment, "nobody");
      const isTaken = async (): Promise<boolean> =>
        (await world.get(kinds.controlPlane))?.metadata?.annotations?.[annotations.defragment] === undefined;
      await world.until("answered", isTaken, 120);
      assert.deepEqual(sentTo(world, "EtcdDefragment"), []);
      await world.annotate(kinds.controlPlane, annotations.defragment, "demo-10.5.0.3");
      await world.until("asked", async () => sentTo(world, "EtcdDefragment").length > 0, 120);
      await world.until("answered", isTaken, 60);
      assert.deepEqual(sentTo(world, "EtcdDefragment"), ["EtcdDefragment 10.5.0.3"]);
    }));

  test("is the one that the control plane names, where its cluster names another one, and that is told", () =>
    ready(3, async (world) => {
      const database = databaseOf(world);
      database.put(20_000_000);
      database.erase(10_000_000);
      database.compact();
      await world.annotate(kinds.cluster, annotations.defragment, "demo-10.5.0.2");
      await world.annotate(kinds.controlPlane, annotations.defragment, "demo-10.5.0.3");
      const named = async (): Promise<unknown> => (await world.get(kinds.controlPlane))?.metadata?.annotations?.[annotations.defragment];
      await world.until("answered", async () => (await named()) === undefined, 120);
      await world.time.advance(120_000);
      assert.deepEqual(sentTo(world, "EtcdDefragment"), ["EtcdDefragment 10.5.0.3"]);
      const told = (await world.condition(kinds.cluster, "FieldNotSupported"))?.message ?? "";
      assert.match(told, /annotation talos-operator\.dev\/defragment \(it acts on TalosControlPlane demo: set it there\)/);
    }));

  test("that has grown meanwhile is done when its member has answered, and until then nobody is told that all is carried out", () =>
    ready(3, async (world) => {
      const database = databaseOf(world);
      database.put(20_000_000);
      database.erase(1_000_000);
      database.compact();
      const follower = at(1, 2, 3).find((address) => address !== leaderOf(world)) ?? "";
      world.datacenter.machine(follower).setDefragmentTime(6_000);
      await world.annotate(kinds.controlPlane, annotations.defragment, `demo-${follower}`);
      await world.until("asked", async () => sentTo(world, "EtcdDefragment").length > 0, 120);
      database.put(30_000_000);
      const told = async (): Promise<readonly (string | undefined)[]> =>
        Promise.all([kinds.controlPlane, kinds.cluster].map(async (kind) => (await world.condition(kind, "Progressing"))?.reason));
      await world.time.advance(5_000);
      assert.deepEqual(await told(), ["TendingEtcd", "TendingEtcd"]);
      const isOver = async (): Promise<boolean> => (await told()).every((reason) => reason === "Settled");
      await world.until("over", isOver, 60);
      assert.deepEqual(sentTo(world, "EtcdDefragment"), [`EtcdDefragment ${follower}`]);
    }));
});
