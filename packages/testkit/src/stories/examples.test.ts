import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { isConditionTrue } from "@talos-operator/api";
import { parseKubernetesYaml } from "@talos-operator/kube-runtime/yaml";
import { forgetAll } from "./left-behind.ts";
import { kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

interface NamedObject {
  readonly metadata: { readonly name: string; readonly namespace: string };
}

const machines = Array.from({ length: 8 }, (_, index) => ({ address: `127.1.0.${index + 1}` }));

const text = (path: string): string => readFileSync(new URL(`../../../../examples/${path}`, import.meta.url), "utf8");

function example(name: string): NamedObject {
  const [document] = parseKubernetesYaml(text(`${name}/cluster.yaml`));
  return document as NamedObject;
}

/** The first cluster, Ready, and then what the example changes in it. */
async function play(name: string, then: (world: Story) => Promise<void>): Promise<void> {
  await tell({ machines, operator: { allowLoopbackMachines: true } }, async (world) => {
    await apply(world, "first-cluster");
    await world.start();
    await settled(world);
    await patch(world, name);
    await then(world);
  });
}

/** As `kubectl apply` does. */
async function apply(world: Story, name: string): Promise<void> {
  await world.client.resource(kinds.cluster).apply(example(name), { fieldManager: "kubectl", force: true });
}

/** As `kubectl patch --type merge --patch-file` does. */
async function patch(world: Story, name: string): Promise<void> {
  const [value] = parseKubernetesYaml(text(`${name}/patch.yaml`)) as readonly Readonly<Record<string, unknown>>[];
  assert.ok(value !== undefined);
  await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "first" }, { type: "merge", value });
}

async function settled(world: Story): Promise<void> {
  const stand = async (): Promise<boolean> => {
    const [cluster, controlPlane] = await Promise.all([world.get(kinds.cluster, "first"), world.get(kinds.controlPlane, "first")]);
    return isConditionTrue(cluster?.status?.conditions, "Ready") && isConditionTrue(controlPlane?.status?.conditions, "ConfigUpToDate");
  };
  await world.until("settled", stand, 1_800);
}

async function untilMachines(world: Story, ...numbers: readonly number[]): Promise<void> {
  const wanted = numbers.map((n) => `first-127.1.0.${n}`).join();
  const there = async (): Promise<string> =>
    (await world.client.resource(kinds.machine).list()).items.map(({ metadata }) => metadata?.name).join();
  await world.until(`machines ${wanted}`, async () => (await there()) === wanted, 3_600);
  await settled(world);
}

test("an example that changes the first cluster names no version: after an upgrade it would ask for the way back", () => {
  for (const name of ["grow", "patch", "replace", "delete"]) assert.doesNotMatch(text(`${name}/patch.yaml`), /version:/i, name);
});

test("examples/grow: a fourth worker joins, and the first cluster's document lets it go again", () =>
  play("grow", async (world) => {
    await untilMachines(world, 1, 2, 3, 4, 5, 6, 7);
    await apply(world, "first-cluster");
    await untilMachines(world, 1, 2, 3, 4, 5, 6);
    assert.equal(world.datacenter.machine("127.1.0.7").state.stage, "maintenance");
  }));

test("examples/patch: workers take the setting, one after the other, and nobody reboots", () =>
  play("patch", async (world) => {
    await world.time.advance(30_000);
    await settled(world);
    for (const { address } of machines.slice(3, 6)) {
      const { config, bootCount } = world.datacenter.machine(address).state;
      assert.match(config.persisted ?? "", /net\.core\.somaxconn: "4096"/);
      assert.equal(bootCount, world.datacenter.machine("127.1.0.1").state.bootCount);
    }
  }));

test("examples/replace: the new control plane joins, the old one leaves and waits in maintenance mode", () =>
  play("replace", async (world) => {
    await untilMachines(world, 1, 2, 4, 5, 6, 8);
    assert.equal(world.datacenter.machine("127.1.0.3").state.stage, "maintenance");
    assert.equal(world.datacenter.etcdClusters()[0]?.members.length, 3);
  }));

test("examples/delete: the machines of a cluster that is deleted with preserve go on", () =>
  play("delete", async (world) => {
    await world.time.advance(10_000);
    await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "first" });
    await world.until("gone", async () => (await world.get(kinds.cluster, "first")) === undefined, 600);
    for (const { address } of machines.slice(0, 6)) assert.equal(world.datacenter.machine(address).state.stage, "running");
    assert.notEqual(await world.get(kinds.record, "first"), undefined);
  }));

test("examples/import: a cluster that nobody knows any more is taken over with its keys, and no machine is sent anything", () =>
  tell({ machines, operator: { allowLoopbackMachines: true } }, async (world) => {
    await apply(world, "first-cluster");
    await world.start();
    await settled(world);
    const bundle = await forgetAll(world, "first");
    const sent = world.sent.length;
    const keys = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { namespace: "default", name: "first-keys" },
      data: { "secrets.yaml": bundle },
    };
    await world.client.resource(kinds.secret).create(keys);
    await apply(world, "import");
    await world.start();
    const imported = async (): Promise<boolean> =>
      isConditionTrue((await world.get(kinds.controlPlane, "first"))?.status?.conditions, "Imported");
    await world.until("taken over", imported, 300);
    await settled(world);
    assert.deepEqual(world.sent.slice(sent), []);
  }));
