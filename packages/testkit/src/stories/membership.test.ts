import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { realisticTimings } from "@talos-operator/simulator";
import { assertQuiet } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";
import { watchQuorum } from "./watch-quorum.ts";

const at = (...numbers: readonly number[]): readonly string[] => numbers.map((n) => `10.5.0.${n}`);
const machines = at(1, 2, 3, 4, 5, 6, 7, 8).map((address) => ({ address }));

async function ready(world: Story, controlPlanes: readonly string[], workers: readonly string[] = []): Promise<void> {
  await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(controlPlanes, workers));
  await world.start();
  await world.untilReady();
}

function list(world: Story, pool: "controlPlane" | "worker", addresses: readonly string[], over: object = {}): Promise<unknown> {
  const spec = { [pool]: { ...over, metalSpec: { machines: addresses.map((address) => ({ address })) } } };
  return world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec } });
}

/** Addresses of etcd's voters, sorted; fails when there is more than one etcd. */
function voters(world: Story): readonly string[] {
  const [etcd, ...more] = world.datacenter.etcdClusters();
  assert.deepEqual(more, []);
  return (etcd?.members ?? [])
    .filter(({ isLearner }) => !isLearner)
    .map(({ peerUrl }) => new URL(peerUrl).hostname)
    .toSorted();
}

/** Until the list is what etcd has, nothing is on its way out, and the cluster is ready. */
async function settled(world: Story, controlPlanes: readonly string[], seconds = 900): Promise<void> {
  await world.until(
    `voters are ${controlPlanes.join(", ")}`,
    async () =>
      voters(world).join() === controlPlanes.toSorted().join() &&
      (await world.condition(kinds.controlPlane, "Removing")) === undefined &&
      (await world.condition(kinds.cluster, "Ready"))?.status === "True",
    seconds,
  );
}

const resets = (world: Story): readonly string[] => world.effects.filter((effect) => effect.startsWith("Reset "));

for (const [pace, timings] of [
  ["at once", undefined],
  ["at the pace of genuine machines", realisticTimings],
] as const)
  describe(`a cluster whose machines act ${pace}`, () => {
    const options = { machines, ...(timings === undefined ? {} : { timings }) };

    test("grows from one control plane to five and shrinks to one again, one at a time, and never without quorum", () =>
      tell(options, async (world) => {
        await ready(world, at(1));
        const guard = watchQuorum(world);
        for (const size of [3, 5, 3, 1]) {
          const addresses = at(1, 2, 3, 4, 5).slice(0, size);
          await list(world, "controlPlane", addresses);
          await settled(world, addresses);
        }
        guard.end();
        assert.deepEqual(
          resets(world)
            .map((reset) => reset.replace("Reset ", ""))
            .toSorted(),
          at(2, 3, 4, 5),
        );
        for (const machine of world.datacenter.machines()) {
          const isOurs = machine.address === "10.5.0.1";
          assert.equal(machine.state.stage, isOurs ? "running" : "maintenance", machine.address);
        }
        await world.time.advance(5_000);
        await assertQuiet(world);
      }));
  });
