import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { isConditionTrue } from "@talos-operator/api";
import type { TalosCluster, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import type { ResourceType } from "@talos-operator/kube-runtime";
import { parseKubernetesYaml } from "@talos-operator/kube-runtime/yaml";
import { kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const types: Readonly<Record<Example["kind"], ResourceType>> = {
  TalosCluster: kinds.cluster,
  TalosControlPlane: kinds.controlPlane,
  TalosWorker: kinds.worker,
};

type Example = TalosCluster | TalosControlPlane | TalosWorker;

/** What one of the files in `examples/` holds, as it stands. */
function example(file: string): readonly Example[] {
  const text = readFileSync(new URL(`../../../../examples/${file}.yaml`, import.meta.url), "utf8");
  return parseKubernetesYaml(text) as readonly Example[];
}

/** As `kubectl apply -f` does, on machines that wait at the addresses of the files and nowhere else. */
async function play(files: readonly string[], then: (world: Story, names: readonly string[]) => Promise<void>): Promise<void> {
  const objects = files.flatMap(example);
  const addresses = [...new Set(JSON.stringify(objects).match(/(?<="address":")[^"]+/g))];
  await tell({ machines: addresses.map((address) => ({ address })) }, async (world) => {
    for (const object of objects) {
      await world.client.resource(types[object.kind]).apply(object, { fieldManager: "kubectl" });
    }
    await world.start();
    await then(world, addresses);
  });
}

const isReady = async (world: Story, type: ResourceType, name: string): Promise<boolean> =>
  isConditionTrue((await world.get(type, name))?.status?.conditions, "Ready");

/** One bootstrap, one configuration for each machine, and all of them run. */
function assertMade(world: Story, addresses: readonly string[], members: number): void {
  assert.deepEqual(world.effects.filter((effect) => effect.startsWith("Bootstrap")).length, 1);
  assert.deepEqual(
    world.effects.filter((effect) => effect.startsWith("ApplyConfiguration")).toSorted(),
    addresses.map((address) => `ApplyConfiguration ${address}`).toSorted(),
  );
  assert.deepEqual(
    world.datacenter.machines().map(({ state }) => state.stage),
    addresses.map(() => "running"),
  );
  assert.equal(world.datacenter.etcdClusters()[0]?.members.length, members);
}

describe("the examples for metal become clusters as they stand", () => {
  test("talos-cluster-metal (B123)", () =>
    play(["talos-cluster-metal"], async (world, addresses) => {
      await world.until("Ready", () => isReady(world, kinds.cluster, "metal"), 900);
      assertMade(world, addresses, 3);
    }));

  test("talos-controlplane-metal, and talos-worker-metal joins it by its reference (B125, B127)", () =>
    play(["talos-controlplane-metal", "talos-worker-metal"], async (world, addresses) => {
      await world.until("Ready", () => isReady(world, kinds.controlPlane, "metal-parts"), 900);
      await world.until("workers Ready", () => isReady(world, kinds.worker, "metal-parts-workers"), 900);
      assertMade(world, addresses, 3);
      const nodes = (await world.workload().resource(nodeType).list()).items;
      assert.equal(nodes.length, addresses.length);
    }));

  test("talos-controlplane-with-cni, which waits for the network that a person installs, and says so (B017, B128)", () =>
    play(["talos-controlplane-with-cni"], async (world, [address = ""]) => {
      await world.until(
        "etcd is healthy",
        async () => (await world.condition(kinds.controlPlane, "EtcdHealthy", "metal-cni"))?.status === "True",
        900,
      );
      await world.time.advance(60_000);
      const { status, reason, message } = (await world.condition(kinds.controlPlane, "Ready", "metal-cni")) ?? {};
      assert.deepEqual([status, reason], ["False", "NodesNotReady"]);
      assert.match(message ?? "", /is not ready/);
      world.datacenter.machine(address).installNetwork();
      await world.until("Ready", () => isReady(world, kinds.controlPlane, "metal-cni"), 60);
      assertMade(world, [address], 1);
      world.datacenter.machine(address).powerCycle();
      await world.time.advance(120_000);
      assert.ok(await isReady(world, kinds.controlPlane, "metal-cni"), "the network is there after a boot, too");
    }));
});

const nodeType: ResourceType = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };
