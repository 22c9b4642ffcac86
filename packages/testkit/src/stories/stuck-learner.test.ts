import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { instantTimings } from "@talos-operator/simulator";
import { assertQuiet } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const at = (...numbers: readonly number[]): readonly string[] => numbers.map((n) => `10.5.0.${n}`);
const machines = at(1, 2, 3, 4, 5, 6).map((address) => ({ address }));

async function list(world: Story, addresses: readonly string[]): Promise<void> {
  const spec = { controlPlane: { metalSpec: { machines: addresses.map((address) => ({ address })) } } };
  await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec } });
}

const members = (world: Story, isLearner: boolean): readonly string[] =>
  (world.datacenter.etcdClusters()[0]?.members ?? [])
    .filter((member) => member.isLearner === isLearner)
    .map(({ peerUrl }) => new URL(peerUrl).hostname)
    .toSorted();

/** Three control planes are asked for five, and the fourth never catches up. */
function stuck(story: (world: Story) => Promise<void>): Promise<void> {
  // As on genuine machines a learner is never healthy.
  return tell({ machines, timings: { ...instantTimings, etcdCheckMs: 20_000 } }, async (world) => {
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(at(1, 2, 3)));
    await world.start();
    await world.untilReady();
    world.datacenter.machine("10.5.0.4").setCatchingUp(false);
    await list(world, at(1, 2, 3, 4, 5));
    await world.until("a learner", async () => members(world, true).join() === "10.5.0.4");
    await world.time.advance(3 * 60_000);
    await story(world);
  });
}

const voters = (world: Story, wanted: readonly string[]) => async (): Promise<boolean> =>
  members(world, false).join() === wanted.join() && (await world.condition(kinds.cluster, "Ready"))?.status === "True";

test("a learner that does not catch up is named with what to do, and nothing else is done to etcd until it has", () =>
  stuck(async (world) => {
    const health = await world.condition(kinds.controlPlane, "EtcdHealthy");
    assert.equal(health?.reason, "MemberMissing");
    assert.match(
      health.message,
      /^demo-10\.5\.0\.4 is still a learner.*Waiting for it: demo-10\.5\.0\.5\. .*look at its disk and network, or take its machine off the list/,
    );
    const ready = await world.condition(kinds.cluster, "Ready");
    assert.match(ready?.message ?? "", /10\.5\.0\.4 is still a learner.*10\.5\.0\.5 joins /);
    // A change that boots every machine, and one that lets a voter go, wait as well.
    const config = { controlPlane: { metalSpec: { machineSpec: { configPatches: [{ machine: { env: { PROOF: "1" } } }] } } } };
    await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec: config } });
    await list(world, at(1, 2, 4, 5, 6));
    await world.time.advance(60_000);
    await assertQuiet(world, 3);
    assert.deepEqual([members(world, false), members(world, true)], [at(1, 2, 3), at(4)]);
    assert.deepEqual(
      world.sent.filter((call) => /^(Reset|Reboot|Etcd)/.test(call)),
      [],
    );
    assert.equal((await world.condition(kinds.controlPlane, "Removing"))?.reason, "WaitingForReplacement");
    world.datacenter.machine("10.5.0.4").setCatchingUp(true);
    await world.until("grown and replaced", voters(world, at(1, 2, 4, 5, 6)), 1_800);
    assert.deepEqual(
      world.effects.filter((effect) => effect.startsWith("Reset")),
      ["Reset 10.5.0.3"],
    );
  }));

test("a learner that never catches up is released when its machine is taken off the list, and another one joins in its place", () =>
  stuck(async (world) => {
    await list(world, at(1, 2, 3, 5, 6));
    await world.until("grown without it", voters(world, at(1, 2, 3, 5, 6)), 1_800);
    assert.deepEqual(members(world, true), []);
    // Talos finds no member to leave with and gives up; it is wiped without leaving then, and its member is removed through another one.
    const done = world.effects.filter((effect) => /^(Reset|EtcdRemove)/.test(effect));
    assert.deepEqual(
      done.map((effect) => effect.replace(/^(EtcdRemove\w+) .*/, "$1")),
      ["Reset 10.5.0.4", "Reset 10.5.0.4", "EtcdRemoveMemberByID"],
    );
    assert.equal(world.datacenter.machine("10.5.0.4").state.stage, "maintenance");
  }));

test("a learner whose machine dies is taken away once its machine is off the list", () =>
  stuck(async (world) => {
    world.datacenter.machine("10.5.0.4").powerOff();
    await list(world, at(1, 2, 3, 5, 6));
    await world.until("grown without it", voters(world, at(1, 2, 3, 5, 6)), 1_800);
    assert.deepEqual(members(world, true), []);
    assert.equal((await world.condition(kinds.controlPlane, "Removing"))?.reason, "MachineUnreachable");
    world.datacenter.machine("10.5.0.4").powerOn();
    await world.until("wiped", async () => (await world.condition(kinds.controlPlane, "Removing")) === undefined, 900);
    assert.equal(world.datacenter.machine("10.5.0.4").state.stage, "maintenance");
  }));
