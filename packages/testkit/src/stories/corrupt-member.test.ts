import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations, labels, talosEtcdBackupResource, talosEtcdBackupScheduleResource } from "@talos-operator/api";
import type { TalosCluster, TalosEtcdBackup, TalosEtcdBackupSchedule } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import type { EtcdDatabase } from "@talos-operator/simulator";
import { realisticTimings } from "@talos-operator/simulator";
import { createScriptedRunner, takenBy } from "../world/scripted-runner.ts";
import { asPerson } from "./as-person.ts";
import { Interruption } from "./interruption.ts";
import { assertQuiet } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story, StoryOptions } from "./story.ts";
import { watchQuorum } from "./watch-quorum.ts";

const at = (...numbers: readonly number[]): readonly string[] => numbers.map((n) => `10.5.0.${n}`);
const namespace = "default";

function databaseOf(world: Story): EtcdDatabase {
  const [etcd] = world.datacenter.etcdClusters();
  const database = world.datacenter.etcdDatabase(etcd?.key ?? "");
  assert.ok(database !== undefined);
  return database;
}

/** A ready cluster of so many control planes, and those of them that do not lead. */
function ready(
  count: number,
  story: (world: Story, followers: readonly string[], leader: string) => Promise<void>,
  options: StoryOptions = {},
  over: Record<string, unknown> = {},
): Promise<void> {
  const addresses = at(...Array.from({ length: count }, (_, index) => index + 1));
  return tell({ machines: [...addresses, "10.5.0.9"].map((address) => ({ address })), ...options }, async (world) => {
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(addresses, [], over));
    await world.start();
    await world.untilReady();
    const [etcd] = world.datacenter.etcdClusters();
    const leader = new URL(etcd?.members.find(({ id }) => id === etcd.leader)?.peerUrl ?? "").hostname;
    await story(
      world,
      addresses.filter((address) => address !== leader),
      leader,
    );
  });
}

/** Notes of the events with this reason. */
async function told(world: Story, wanted: string): Promise<readonly string[]> {
  const { items } = await world.client.resource<KubeObject & { readonly reason?: string; readonly note?: string }>(kinds.event).list();
  return items.flatMap(({ reason, note = "" }) => (reason === wanted ? [note] : []));
}

const sentTo = (world: Story, call: string): readonly string[] => world.sent.filter((one) => one.startsWith(call));

const memberAt = (world: Story, address: string): string | undefined => world.datacenter.machine(address).state.etcd.data?.memberId;

async function healed(world: Story): Promise<void> {
  const database = databaseOf(world);
  await world.until("the alarm is gone", async () => database.alarms().length === 0, 3_600);
  await world.untilReady();
}

const health = async (world: Story): Promise<string> => {
  const { reason = "", message = "" } = (await world.condition(kinds.controlPlane, "EtcdHealthy")) ?? {};
  return `${reason}: ${message}`;
};

/** Ended as it should be: each of these left once, booted once, and joined anew with the data of the others; the alarm was taken back. */
function assertReplaced(world: Story, ...addresses: readonly string[]): void {
  for (const call of ["EtcdLeaveCluster", "Reboot"])
    assert.deepEqual(
      sentTo(world, call),
      addresses.map((address) => `${call} ${address}`),
    );
  assert.equal(sentTo(world, "EtcdAlarmDisarm").length, 1);
  assert.deepEqual(sentTo(world, "Reset"), []);
  assert.deepEqual(sentTo(world, "EtcdDefragment"), []);
}

describe("a member whose data are not those of the majority", () => {
  for (const count of [3, 5])
    test(`of ${count} leaves etcd, boots and joins anew; quorum is kept and the alarm taken back`, () =>
      ready(count, async (world, [wrong = ""]) => {
        const before = memberAt(world, wrong);
        const guard = watchQuorum(world);
        world.datacenter.machine(wrong).corruptEtcd();
        // Machines that take no time are through before anybody looks again: the event stays.
        await world.until("told", async () => (await told(world, "EtcdUnhealthy")).some((note) => note.includes("CORRUPT")), 300);
        await healed(world);
        guard.end();
        assertReplaced(world, wrong);
        assert.notEqual(memberAt(world, wrong), before);
        await world.time.advance(120_000);
        await assertQuiet(world, 3);
      }));

  test("is replaced when it leads, too", () =>
    ready(3, async (world, _followers, leader) => {
      const guard = watchQuorum(world);
      world.datacenter.machine(leader).corruptEtcd();
      await healed(world);
      guard.end();
      assertReplaced(world, leader);
    }));

  test("is not told by corrupt-check-time, which names who differs from the leader: nobody is replaced, though one alone is named", () =>
    ready(
      3,
      async (world, _followers, leader) => {
        world.datacenter.machine(leader).corruptEtcd();
        await world.until("told", async () => /^DataCorrupt: .*corrupt-check-time/.test(await health(world)), 300);
        assert.match(await health(world), /those of the leader.*docs\/runbooks\/etcd-corrupt\.md/);
        await world.time.advance(30 * 60_000);
        for (const call of ["EtcdLeaveCluster", "Reboot", "EtcdAlarmDisarm"]) assert.deepEqual(sentTo(world, call), []);
      },
      {},
      {
        metalSpec: {
          machines: at(1, 2, 3).map((address) => ({ address })),
          machineSpec: { installDisk: "/dev/sda", configPatches: [{ cluster: { etcd: { extraArgs: { "corrupt-check-time": "10m" } } } }] },
        },
      },
    ));

  for (const isFirst of [true, false])
    test(`is ${isFirst ? "" : "not "}where the endpoint leads, without discovery: it ${isFirst ? "would wait for itself, so nothing is sent" : "is replaced"}`, () =>
      ready(
        3,
        async (world) => {
          const wrong = isFirst ? "10.5.0.1" : "10.5.0.2";
          world.datacenter.machine(wrong).corruptEtcd();
          if (!isFirst) return healed(world).then(() => assertReplaced(world, wrong));
          await world.until("told", async () => /^DataCorrupt: .*demo-10\.5\.0\.1 .*wait for itself/.test(await health(world)), 300);
          await world.time.advance(30 * 60_000);
          for (const call of ["EtcdLeaveCluster", "Reboot", "EtcdAlarmDisarm"]) assert.deepEqual(sentTo(world, call), []);
        },
        {},
        {
          endpoint: "https://10.5.0.1:6443",
          metalSpec: { machines: at(1, 2, 3).map((address) => ({ address })), machineSpec: { installDisk: "/dev/sda", airGap: true } },
        },
      ));

  test("is one of two of five: they are replaced one after the other", () =>
    ready(5, async (world, [one = "", other = ""]) => {
      const guard = watchQuorum(world);
      for (const address of [one, other]) world.datacenter.machine(address).corruptEtcd();
      await healed(world);
      guard.end();
      assert.deepEqual(
        sentTo(world, "EtcdLeaveCluster").toSorted(),
        [one, other].map((address) => `EtcdLeaveCluster ${address}`).toSorted(),
      );
      assert.equal(sentTo(world, "EtcdAlarmDisarm").length, 1);
    }));

  test("holds up every other removal until it is replaced", () =>
    ready(5, async (world, [wrong = "", , , leaver = ""]) => {
      world.datacenter.machine(wrong).corruptEtcd();
      const spec = {
        controlPlane: {
          metalSpec: {
            machines: at(1, 2, 3, 4, 5)
              .filter((one) => one !== leaver)
              .slice(0, 3)
              .map((address) => ({ address })),
          },
        },
      };
      await world.client.resource(kinds.cluster).patch({ namespace, name: "demo" }, { type: "merge", value: { spec } });
      await world.until("replaced or gone", async () => databaseOf(world).alarms().length === 0, 3_600);
      const order = world.sent.filter((one) => /^(EtcdLeaveCluster|Reset|EtcdAlarmDisarm)/.test(one));
      assert.equal(order[0], `EtcdLeaveCluster ${wrong}`);
      assert.equal(
        order.findIndex((one) => one.startsWith("Reset")) === -1 ||
          order.findIndex((one) => one.startsWith("Reset")) > order.findIndex((one) => one.startsWith("EtcdAlarmDisarm")),
        true,
        order.join(),
      );
      await world.untilReady();
    }));

  for (const call of ["EtcdLeaveCluster", "Reboot", "EtcdAlarmDisarm"])
    for (const side of ["before", "after"] as const)
      test(`is replaced by the next leader, when the one before dies right ${side} ${call}`, () => {
        const cut = new Interruption(/\/(EtcdLeaveCluster|Reboot|EtcdAlarmDisarm)$/);
        return ready(
          3,
          async (world, [wrong = ""]) => {
            const guard = watchQuorum(world);
            cut.begin({ call: new RegExp(`^${call}`), side, isKilled: true }, async () => {});
            world.datacenter.machine(wrong).corruptEtcd();
            await world.until("met", async () => cut.metAt !== undefined, 900);
            await cut.tend(world);
            await healed(world);
            guard.end();
            assert.equal(new Set(sentTo(world, "EtcdLeaveCluster")).size, 1);
            assert.equal(new Set(sentTo(world, "Reboot")).size, 1);
          },
          { dialer: cut.dialer },
        );
      });

  test("at the pace of genuine machines: it is away for no longer than its boot takes, and is drained of nothing", () =>
    ready(
      3,
      async (world, [wrong = ""]) => {
        const guard = watchQuorum(world);
        world.datacenter.machine(wrong).corruptEtcd();
        await healed(world);
        guard.end();
        assertReplaced(world, wrong);
      },
      { timings: realisticTimings },
    ));

  test("whose machine loses its power between leaving and empty data is told with what to do; the others write again meanwhile", () =>
    ready(
      3,
      async (world, [wrong = ""]) => {
        const members = (): number => world.datacenter.etcdClusters()[0]?.members.length ?? 0;
        world.datacenter.machine(wrong).corruptEtcd();
        for (let tries = 0; tries < 6_000 && members() === 3; tries += 1) await world.time.advance(100);
        assert.notEqual(memberAt(world, wrong), undefined, "in the middle");
        world.datacenter.machine(wrong).powerCycle();
        await world.until(
          "told",
          async () =>
            /^MemberMissing: .*cannot join with its old data\. To have it join as a new member: talosctl -n \S+ reset/.test(
              await health(world),
            ),
          1_200,
        );
        assert.deepEqual(databaseOf(world).alarms(), []);
        const wiped = asPerson(world, wrong, (client) =>
          client.reset({ graceful: false, reboot: true, wipe: "system-disk", systemPartitions: ["EPHEMERAL"] }, { timeoutMs: 10_000 }),
        );
        await world.time.advance(20_000);
        await wiped;
        await world.until("joined", async () => members() === 3, 1_200);
        await healed(world);
      },
      { timings: realisticTimings },
    ));

  test("is left alone while its machine is paused", () =>
    ready(3, async (world, [wrong = ""]) => {
      const value = { metadata: { annotations: { [annotations.reconcileMode]: "disable" } } };
      await world.client.resource(kinds.machine).patch({ namespace, name: `demo-${wrong}` }, { type: "merge", value });
      await world.time.advance(5_000);
      const before = world.sent.length;
      world.datacenter.machine(wrong).corruptEtcd();
      await world.time.advance(20 * 60_000);
      assert.deepEqual(world.sent.slice(before), []);
      assert.match(await health(world), /^DataCorrupt: .*is paused by its annotation talos\.alperen\.cloud\/reconcile-mode/);
    }));
});

describe("data that differ without a majority", () => {
  test("are left alone, and the newest backup that was proved is named", () =>
    ready(
      3,
      async (world) => {
        await world.client.resource<TalosEtcdBackup>(talosEtcdBackupResource).create({
          apiVersion: "talos.alperen.cloud/v1alpha1",
          kind: "TalosEtcdBackup",
          metadata: { namespace, name: "nightly-7" },
          spec: { talosControlPlaneRef: { name: "demo" }, backupStorage: { directory: { path: "x" } } },
        });
        await world.time.advance(1_000);
        const conditions = [{ type: "Proved", status: "True", reason: "Proved", message: "x", lastTransitionTime: "2026-01-01T00:00:00Z" }];
        await world.client
          .resource(talosEtcdBackupResource)
          .patchStatus(
            { namespace, name: "nightly-7" },
            { type: "merge", value: { status: { conditions, startTime: "2026-01-01T00:00:00Z" } } },
          );
        const before = world.sent.length;
        for (const address of at(1, 2)) world.datacenter.machine(address).corruptEtcd();
        await world.time.advance(30 * 60_000);
        assert.deepEqual(world.sent.slice(before), []);
        assert.match(await health(world), /^DataCorrupt: .*no majority.*Reboot none.*TalosEtcdBackup nightly-7 of 2026.*etcd-corrupt\.md/);
      },
      withRunner().options,
    ));

  test("of one voter or of two are left alone", async () => {
    await ready(1, async (world) => {
      const before = world.sent.length;
      world.datacenter.machine("10.5.0.1").setEtcdAlarm("CORRUPT");
      await world.time.advance(20 * 60_000);
      assert.deepEqual(world.sent.slice(before), []);
      assert.match(await health(world), /^DataCorrupt: .*of which none is known here/);
    });
  });
});

/** Workers of backups that a story ends by hand. */
function withRunner(): { readonly options: StoryOptions; readonly runner: () => ReturnType<typeof createScriptedRunner> } {
  let runner: ReturnType<typeof createScriptedRunner> | undefined;
  let clock: Story["time"]["clock"] | undefined;
  const made = (): ReturnType<typeof createScriptedRunner> => (runner ??= createScriptedRunner({ now: () => clock?.now() ?? 0 }));
  return {
    runner: made,
    options: {
      backups: () => ({ runner: made(), backupDirectory: "/backups" }),
      operatorClock: (real) => {
        clock = real;
        return real;
      },
    },
  };
}

describe("before a member with wrong data is replaced", () => {
  const schedule = (world: Story): Promise<unknown> =>
    world.client.resource<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource).create({
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosEtcdBackupSchedule",
      metadata: { namespace, name: "nightly" },
      spec: {
        schedule: "0 0 1 1 *",
        backupTemplate: { spec: { talosControlPlaneRef: { name: "demo" }, backupStorage: { directory: { path: "nightly" } } } },
      },
    });

  for (const policy of ["preferred", "required"])
    test(`a snapshot is taken from another one (${policy}); where it must be and the store is broken, it waits and goes on`, () => {
      const { options, runner } = withRunner();
      return ready(
        3,
        async (world, [wrong = ""]) => {
          await schedule(world);
          await world.annotate(kinds.controlPlane, annotations.snapshotBeforeRisk, policy);
          let isWell = policy === "preferred";
          const work = async (): Promise<void> => {
            for (const run of runner().begun)
              if ((await runner().look(run.name)).kind === "running")
                runner().end(run.name, isWell ? takenBy(run, world.time.clock.now()) : undefined);
          };
          world.datacenter.machine(wrong).corruptEtcd();
          if (!isWell) {
            await world.until(
              "it waits",
              async () => {
                await work();
                return (await world.condition(kinds.controlPlane, "SnapshotBeforeRisk"))?.reason === "StoreFails";
              },
              1_200,
            );
            assert.deepEqual(sentTo(world, "EtcdLeaveCluster"), []);
            assert.match(await health(world), /^ReplacingMember: .*is replaced later: a snapshot /);
            isWell = true;
          }
          const database = databaseOf(world);
          await world.until(
            "healed",
            async () => {
              await work();
              return database.alarms().length === 0;
            },
            3_600,
          );
          assertReplaced(world, wrong);
          const { items } = await world.client.resource<TalosEtcdBackup>(talosEtcdBackupResource).list({ namespace });
          const taken = items.filter(({ metadata }) => metadata.labels?.[labels.beforeRisk] === "demo");
          assert.equal(taken.at(0)?.metadata.annotations?.[annotations.takenBefore], `demo-${wrong}`);
          const asked = runner().begun.flatMap(({ task }) => (task.kind === "take" ? [JSON.stringify(task.source)] : []));
          assert.notEqual(asked.length, 0);
          for (const source of asked) assert.equal(source.includes(`"${wrong}"`), false, source);
        },
        options,
      );
    });
});
