import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { realisticTimings } from "@talos-operator/simulator";
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
