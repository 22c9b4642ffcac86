import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { realisticTimings } from "@talos-operator/simulator";
import { HeldWatch } from "./held-watch.ts";
import { Interruption } from "./interruption.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story, StoryOptions } from "./story.ts";
import { watchQuorum } from "./watch-quorum.ts";

const at = (...numbers: readonly number[]): readonly string[] => numbers.map((n) => `10.5.0.${n}`);
const containers = (...numbers: readonly number[]): NonNullable<StoryOptions["machines"]> =>
  at(...numbers).map((address) => ({ address, platform: "container" as const }));
const five: StoryOptions = { machines: containers(1, 2, 3, 4, 5) };
const paced: StoryOptions = { ...five, timings: { ...realisticTimings, bootMs: 2_000, installMs: 0 } };

async function ready(world: Story, controlPlanes: readonly string[], workers: readonly string[] = []): Promise<void> {
  await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(controlPlanes, workers));
  await world.start();
  await world.untilReady(900);
}

function list(world: Story, pool: "controlPlane" | "worker", addresses: readonly string[]): Promise<unknown> {
  const spec = { [pool]: { metalSpec: { machines: addresses.map((address) => ({ address })) } } };
  return world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec } });
}

const members = (world: Story): readonly string[] =>
  (world.datacenter.etcdClusters()[0]?.members ?? []).map(({ peerUrl }) => new URL(peerUrl).hostname).toSorted();

/** The members are these machines, nothing is on its way out, and the cluster is ready. */
async function settled(world: Story, controlPlanes: readonly string[], seconds = 1_800): Promise<void> {
  await world.until(
    `members are ${controlPlanes.join(", ")}`,
    async () =>
      members(world).join() === controlPlanes.toSorted().join() &&
      (await world.condition(kinds.controlPlane, "Removing")) === undefined &&
      (await world.condition(kinds.cluster, "Ready"))?.status === "True",
    seconds,
  );
}

const calls = (world: Story, ...methods: readonly string[]): readonly string[] =>
  world.effects.filter((effect) => methods.includes(effect.split(" ")[0] ?? ""));

for (const options of [five, paced])
  test(`control planes in containers go from three to one: each leaves etcd, is off its list, and is reset then; quorum stands (${options === five ? "at once" : "genuine pace"})`, () =>
    tell(options, async (world) => {
      await ready(world, at(1, 2, 3));
      const guard = watchQuorum(world);
      await list(world, "controlPlane", at(1));
      await settled(world, at(1));
      guard.end();
      const told = calls(world, "EtcdLeaveCluster", "Reset").map((call) => call.split(" ").toReversed().join(" "));
      for (const address of at(2, 3))
        assert.deepEqual(
          told.filter((call) => call.startsWith(`${address} `)),
          [`${address} EtcdLeaveCluster`, `${address} Reset`],
        );
      for (const address of at(2, 3)) assert.equal(world.datacenter.machine(address).state.power, "off");
      assert.equal(world.datacenter.etcdClusters()[0]?.leader, world.datacenter.machine("10.5.0.1").state.etcd.data?.memberId);
    }));

test("containers that are paused by themselves once their removal is decided do not leave etcd, though the watch has not told of the pause", () => {
  const watch = new HeldWatch("/talosmachines");
  const interruption = new Interruption();
  return tell({ ...five, kube: (real) => interruption.kube(watch.kube(real)) }, async (world) => {
    await ready(world, at(1, 2, 3));
    watch.hold();
    await world.time.advance(10_000);
    const mode = { "talos.alperen.cloud/reconcile-mode": "disable" };
    interruption.begin({ call: /^PATCH .*clusterrecords/, side: "after" }, async () => {
      for (const name of ["demo-10.5.0.2", "demo-10.5.0.3"])
        await world.client
          .resource(kinds.machine)
          .patch({ namespace: "default", name }, { type: "merge", value: { metadata: { annotations: mode } } });
    });
    await list(world, "controlPlane", at(1));
    await world.time.advance(60_000);
    watch.goOn();
    assert.notEqual(interruption.metAt, undefined);
    assert.deepEqual(calls(world, "EtcdLeaveCluster", "Reset"), []);
    assert.equal(members(world).length, 3);
  });
});

const powerOf = (world: Story, address: string): string => world.datacenter.machine(address).state.power;

/** What the record remembers of letting machines go: names with reasons. */
async function released(world: Story): Promise<readonly string[]> {
  const record = await world.get(kinds.record);
  const decisions = (record?.spec?.["decisions"] ?? []) as readonly {
    readonly action: string;
    readonly machine: string;
    readonly reason: string;
  }[];
  return decisions.filter(({ action }) => action === "Release").map(({ machine, reason }) => `${machine} ${reason}`);
}

describe("a control plane of two in containers is replaced by the other", () => {
  /** One control plane, and another that takes its place: two voters on the way. */
  const two = (during: (world: Story) => Promise<void>, after?: (world: Story) => Promise<void>): Promise<void> =>
    tell({ ...paced, machines: containers(1, 2) }, async (world) => {
      await ready(world, at(1));
      const guard = watchQuorum(world);
      await list(world, "controlPlane", at(2));
      await during(world);
      await settled(world, at(2));
      guard.end();
      await after?.(world);
    });
  const untilSent = (world: Story, call: string): Promise<void> => world.until(call, async () => world.sent.includes(call), 900);

  for (const { what, method } of [
    { what: "while it leaves etcd", method: "EtcdLeaveCluster" },
    { what: "when it was told to stop", method: "Reset" },
  ])
    test(`and the operator is killed ${what}`, () =>
      two(async (world) => {
        for (let step = 0; step < 200_000 && !world.sent.includes(`${method} 10.5.0.1`); step += 1) await world.time.runNext();
        await world.kill();
        await world.time.advance(90_000);
        await world.start();
      }));

  test("and its call to leave dies after the removal: it is stopped all the same, and etcd is asked once", () =>
    two(
      async (world) => {
        // The connection breaks while etcd stops, and the call with it.
        for (let step = 0; step < 200_000 && !world.sent.includes("EtcdLeaveCluster 10.5.0.1"); step += 1) await world.time.runNext();
        await world.time.advance(500);
        world.datacenter.machine("10.5.0.1").setConnected(false);
        await world.time.advance(5_000);
        world.datacenter.machine("10.5.0.1").setConnected(true);
      },
      async (world) => {
        assert.equal(world.sent.filter((call) => call.startsWith("EtcdLeaveCluster")).length, 1);
        assert.notEqual(world.datacenter.machine("10.5.0.1").state.etcd.data, undefined, "its data is of a removed member");
        assert.equal(powerOf(world, "10.5.0.1"), "off");
      },
    ));

  test("and it refuses to leave: nothing is stopped while it is listed, and another one removes it in the end", () =>
    two(
      async (world) => {
        const effect = { kind: "error", code: 2, message: "failed to leave cluster: etcdserver: unhealthy cluster" } as const;
        world.datacenter.inject({ method: "EtcdLeaveCluster", effect });
        await untilSent(world, "EtcdLeaveCluster 10.5.0.1");
        await world.time.advance(120_000);
        assert.deepEqual(calls(world, "Reset"), []);
      },
      async (world) => assert.deepEqual(calls(world, "EtcdRemoveMemberByID", "Reset"), ["EtcdRemoveMemberByID 10.5.0.2", "Reset 10.5.0.1"]),
    ));

  test("and it dies before it has left: the other one removes it", () =>
    tell({ ...paced, machines: containers(1, 2, 3, 4) }, async (world) => {
      await ready(world, at(1, 2, 3));
      await list(world, "controlPlane", at(2, 3, 4));
      await untilSent(world, "EtcdLeaveCluster 10.5.0.1");
      world.datacenter.machine("10.5.0.1").powerOff();
      await settled(world, at(2, 3, 4));
      assert.deepEqual(await released(world), ["demo-10.5.0.1 Stopped"]);
    }));

  test("and its supervisor starts it again with its disk, each time it stops: it is removed for good and let go as it runs", () =>
    two(
      async (world) => {
        const stopped = world.datacenter.machine("10.5.0.1");
        world.datacenter.onMachine((machine) => {
          if (machine.address === stopped.address && machine.state.power === "off")
            world.time.timers.schedule(8_000, () => stopped.powerOn());
        });
        await untilSent(world, "Reset 10.5.0.1");
      },
      async (world) => {
        assert.deepEqual(await released(world), ["demo-10.5.0.1 StartedAgain"]);
        world.datacenter.machine("10.5.0.1").powerCycle();
        await world.time.advance(300_000);
        assert.deepEqual(members(world), at(2), "it never joins again with the data of a removed member");
      },
    ));

  test("and its supervisor makes it anew without its disk: it waits in maintenance mode and is released", () =>
    two(
      async (world) => {
        await untilSent(world, "Reset 10.5.0.1");
        await world.until("stopped", async () => powerOf(world, "10.5.0.1") === "off");
        const machine = world.datacenter.machine("10.5.0.1");
        machine.replaceDisk();
        machine.powerOn();
      },
      async (world) => assert.deepEqual(await released(world), ["demo-10.5.0.1 AnswersInMaintenance"]),
    ));
});

test("what a removed container keeps is said while it stops, and in the decision that lets it go", () =>
  tell(paced, async (world) => {
    await ready(world, at(1), at(2));
    const heard = new Set<string>();
    await list(world, "worker", []);
    await world.until("asked", async () => (await world.condition(kinds.worker, "Removing"))?.reason === "ConfirmationRequired");
    await world.annotate(kinds.worker, "talos-operator.dev/confirm-reset", "demo");
    await world.until("gone", async () => {
      const removing =
        (await world.condition(kinds.controlPlane, "Removing")) ?? (await world.condition(kinds.worker, "Removing", "demo-workers"));
      heard.add(removing?.message ?? "");
      return (await released(world)).length > 0;
    });
    assert.match(
      [...heard].join("\n"),
      /is being stopped; it is released after 20 s or more without an answer: a reset wipes nothing in a container/,
    );
    assert.deepEqual(await released(world), ["demo-10.5.0.2 Stopped"]);
  }));

test("a cluster in containers is deleted: every container stops, and its objects, record and keys go", () =>
  tell(paced, async (world) => {
    await ready(world, at(1, 2, 3), at(4));
    await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
    await world.until("gone", async () => (await world.get(kinds.controlPlane)) === undefined, 900);
    assert.deepEqual(
      at(1, 2, 3, 4).map((address) => powerOf(world, address)),
      ["off", "off", "off", "off"],
    );
    assert.equal(await world.get(kinds.record), undefined);
    assert.deepEqual(calls(world, "EtcdLeaveCluster", "EtcdRemoveMemberByID"), []);
  }));
