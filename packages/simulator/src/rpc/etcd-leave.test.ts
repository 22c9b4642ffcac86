import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosClient } from "@talos-operator/talos/client";
import { isTalosError } from "@talos-operator/talos/client";
import { instantTimings } from "../node/timings.ts";
import type { Machine } from "../node/machine.ts";
import type { MachineSpec } from "../node/hardware.ts";
import { createTestWorld } from "../testing/world.ts";
import type { TestWorld } from "../testing/world.ts";

const timings = { ...instantTimings, etcdShutdownMs: 1_000 };

/** A cluster of control planes at 10.5.0.1 and following. */
async function cluster(count: number, platform: MachineSpec["platform"] = "container"): Promise<TestWorld> {
  const machines = Array.from({ length: count }, (_, index) => ({ address: `10.5.0.${index + 1}`, platform: platform ?? "metal" }));
  const world = await createTestWorld(machines, { timings });
  for (const { address } of machines) await world.apply(address, "controlplane");
  await world.time.advance(10);
  await (await world.client("10.5.0.1", "os:admin")).bootstrap();
  await world.time.advance(1_000);
  assert.equal(world.datacenter.etcdClusters()[0]?.members.filter(({ isLearner }) => !isLearner).length, count);
  return world;
}

const state = (world: TestWorld, address: string): Machine => world.datacenter.machine(address).state;
const etcdOf = (machine: Machine): readonly [string | undefined, boolean] => [
  machine.services["etcd"]?.state,
  machine.etcd.data !== undefined,
];
const members = (world: TestWorld): number => world.datacenter.etcdClusters()[0]?.members.length ?? 0;
const admin = (world: TestWorld, address: string): Promise<TalosClient> => world.client(address, "os:admin");

/** What came of a call, once time has passed. */
async function outcome(world: TestWorld, call: Promise<void>, ms: number): Promise<string> {
  const end = call.then(
    () => "OK",
    (error: unknown) => (isTalosError(error) ? `${error.code}: ${error.nodeText}` : String(error)),
  );
  await world.time.advance(ms);
  return Promise.race([end, Promise.resolve("still waits")]);
}

describe("EtcdLeaveCluster", () => {
  test("removes the member, stops etcd for this boot and empties its data; the next boot joins anew", async () => {
    const world = await cluster(3);
    assert.equal(await outcome(world, (await admin(world, "10.5.0.3")).etcdLeaveCluster(), 5_000), "OK");
    assert.deepEqual([members(world), ...etcdOf(state(world, "10.5.0.3"))], [2, "Finished", false]);
    await world.time.advance(60_000);
    assert.equal(members(world), 2, "it does not come back by itself");
    world.datacenter.machine("10.5.0.3").powerCycle();
    await world.time.advance(10_000);
    assert.equal(members(world), 3);
  });

  test("whose caller dies while etcd stops leaves it Finished with data that never joins again, and a second call waits for a member for three minutes", async () => {
    const world = await cluster(3);
    const client = await admin(world, "10.5.0.3");
    const dies = new AbortController();
    const call = client.etcdLeaveCluster({ signal: dies.signal, timeoutMs: 60_000 });
    await world.time.advance(500);
    dies.abort();
    assert.match(await outcome(world, call, 5_000), /^CANCELED/);
    assert.deepEqual([members(world), ...etcdOf(state(world, "10.5.0.3"))], [2, "Finished", true]);
    const again = client.etcdLeaveCluster({ timeoutMs: 600_000 });
    assert.equal(await outcome(world, again, 170_000), "still waits");
    assert.match(await outcome(world, again, 20_000), /failed to get local etcd member ID: context deadline exceeded/);
    world.datacenter.machine("10.5.0.3").powerCycle();
    await world.time.advance(60_000);
    assert.deepEqual([members(world), ...etcdOf(state(world, "10.5.0.3"))], [2, "Waiting", true]);
  });

  test("asked twice at once removes one member, and both callers hear that it left", async () => {
    const world = await cluster(3);
    const client = await admin(world, "10.5.0.3");
    const calls = [client.etcdLeaveCluster(), client.etcdLeaveCluster()];
    assert.deepEqual(await Promise.all(calls.map((call) => outcome(world, call, 5_000))), ["OK", "OK"]);
    assert.equal(members(world), 2);
  });

  test("asked of the leader hands nothing over: the others elect", async () => {
    const world = await cluster(3);
    const leader = world.datacenter
      .machines()
      .find(({ state: { etcd } }) => etcd.data?.memberId === world.datacenter.etcdClusters()[0]?.leader);
    assert.equal(await outcome(world, (await admin(world, leader?.address ?? "")).etcdLeaveCluster(), 5_000), "OK");
    assert.notEqual(world.datacenter.etcdClusters()[0]?.leader, undefined);
  });

  test("asked of a learner waits until it votes", async () => {
    const world = await cluster(1);
    const learner = world.datacenter.addMachine({ address: "10.5.0.9", platform: "container" });
    await world.time.advance(10);
    learner.setCatchingUp(false);
    await world.apply("10.5.0.9", "controlplane");
    await world.time.advance(1_000);
    assert.equal(world.datacenter.etcdClusters()[0]?.members.find(({ isLearner }) => isLearner)?.isStarted, true);
    const call = (await admin(world, "10.5.0.9")).etcdLeaveCluster({ timeoutMs: 600_000 });
    assert.equal(await outcome(world, call, 60_000), "still waits");
    learner.setCatchingUp(true);
    assert.equal(await outcome(world, call, 10_000), "OK");
    assert.equal(members(world), 1);
  });

  test("asked of the last member is refused by etcd", async () => {
    const world = await cluster(1);
    const said = await outcome(world, (await admin(world, "10.5.0.1")).etcdLeaveCluster(), 5_000);
    assert.match(said, /re-configuration failed due to not enough started members/);
    assert.equal(members(world), 1);
  });

  test("without quorum finds no member of its own, and fails after three minutes", async () => {
    const world = await cluster(2);
    world.datacenter.machine("10.5.0.2").powerOff();
    await world.time.advance(1_000);
    const call = (await admin(world, "10.5.0.1")).etcdLeaveCluster({ timeoutMs: 600_000 });
    assert.match(await outcome(world, call, 190_000), /failed to get local etcd member ID/);
    assert.equal(members(world), 2);
  });
});

describe("Reset", () => {
  for (const graceful of [true, false])
    test(`of a container (graceful: ${String(graceful)}) leaves etcd as it is, wipes nothing and stays off`, async () => {
      const world = await cluster(2);
      const machine = world.datacenter.machine("10.5.0.2");
      const before = machine.state;
      await (await admin(world, "10.5.0.2")).reset({ graceful, reboot: true });
      await world.time.advance(60_000);
      assert.deepEqual(
        [machine.state.power, machine.state.config.persisted, machine.state.etcd.data],
        ["off", before.config.persisted, before.etcd.data],
      );
      assert.equal(members(world), 2);
      assert.equal(world.datacenter.etcdClusters()[0]?.leader, undefined, "the other one of two has lost its quorum");
    });

  test("leaves a container that somebody starts again as it was, or empty when it was made anew", async () => {
    const world = await cluster(3);
    const machine = world.datacenter.machine("10.5.0.3");
    await (await admin(world, "10.5.0.3")).reset({ graceful: false, reboot: true });
    await world.time.advance(1_000);
    machine.powerOn();
    await world.time.advance(5_000);
    assert.deepEqual([machine.state.stage, etcdOf(machine.state)[0]], ["running", "Running"]);
    machine.powerOff();
    machine.replaceDisk();
    machine.replaceCard("02:00:00:00:00:01");
    machine.powerOn();
    await world.time.advance(1_000);
    assert.deepEqual([machine.state.stage, machine.state.hardware.mac], ["maintenance", "02:00:00:00:00:01"]);
  });

  test("of the last member of etcd, graceful, fails in etcd, and the machine goes on", async () => {
    const world = await cluster(1, "metal");
    await (await admin(world, "10.5.0.1")).reset({ graceful: true, reboot: true });
    await world.time.advance(600_000);
    assert.notEqual(state(world, "10.5.0.1").config.persisted, undefined);
  });
});
