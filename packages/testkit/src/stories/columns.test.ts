// What `kubectl get` shows of objects, and what an operator makes of those that the release before wrote.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeTransport } from "@talos-operator/ports";
import { apply, assertQuiet } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Conditioned, Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4", "10.5.0.5"];

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

/** The table that the API server prints of a kind. @param isWide with the columns of `-o wide` */
async function table(transport: KubeTransport, plural: string, isWide = false): Promise<readonly (readonly unknown[])[]> {
  const response = await transport.send({
    method: "GET",
    path: `/apis/talos.alperen.cloud/v1alpha1/namespaces/default/${plural}`,
    headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
  });
  const { columnDefinitions, rows } = response.body as Table;
  const shown = columnDefinitions.map(({ priority, name }) => (isWide || priority === 0) && name !== "Age");
  const cells = (row: readonly unknown[]): readonly unknown[] => row.filter((_, index) => shown[index]);
  return [cells(columnDefinitions.map(({ name }) => name)), ...rows.map((row) => cells(row.cells))];
}

async function settled(world: Story): Promise<void> {
  await apply(world, kinds.cluster, demoCluster(cps, workers));
  await world.start();
  await world.untilReady();
  await world.time.advance(60_000);
}

test("tables keep the published columns, show what runs, and tell machines apart", () => {
  let transport: KubeTransport | undefined;
  const kube = (real: KubeTransport): KubeTransport => (transport = real);
  return tell({ kube }, async (world) => {
    await settled(world);
    await world.client
      .resource(kinds.cluster)
      .patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec: { controlPlane: { version: "v1.13.8" } } } });
    await world.time.advance(60_000);
    assert.ok(transport);
    assert.deepEqual(await table(transport, "taloscontrolplanes"), [
      ["Name", "State", "Version", "KubeVersion", "Mode", "Ready", "Status", "Machines", "Upgraded"],
      ["demo", "Ready", "v1.13.9", "v1.36.3", "metal", "True", "DowngradeAsked", "3/3", null],
    ]);
    const [head, first, , , fourth] = await table(transport, "talosmachines");
    assert.deepEqual(head, ["Name", "State", "Version", "Endpoint", "Role", "Ready", "Status", "Upgrade"]);
    assert.deepEqual(first, ["demo-10.5.0.1", "Available", "v1.13.9", "10.5.0.1", "controlplane", "True", "AllReady", null]);
    assert.deepEqual(fourth, ["demo-10.5.0.4", "Available", "v1.13.9", "10.5.0.4", "worker", "True", "AllReady", null]);
    const wide = await table(transport, "talosmachines", true);
    // A Node has the name of the machine's own making where nobody names it.
    const nodeNames = wide.slice(1).map((row) => row[10]);
    assert.equal(new Set(nodeNames).size, 5);
    for (const name of nodeNames) assert.match(String(name), /^talos-\w{3}-\w{3}$/);
    assert.deepEqual(wide[0]?.slice(8), ["Cluster", "Pool", "Node", "Stage", "To"]);
    assert.deepEqual(
      [wide[1]?.slice(8), wide[4]?.slice(8)],
      [
        ["demo", null, nodeNames[0], "running", null],
        ["demo", "demo", nodeNames[3], "running", null],
      ],
    );
  });
});

test("all kinds of ours are in one category", () =>
  tell({}, async (world) => {
    const { items } = await world.client
      .resource({
        group: "apiextensions.k8s.io",
        version: "v1",
        plural: "customresourcedefinitions",
        kind: "CustomResourceDefinition",
        namespaced: false,
      })
      .list();
    const inTalos = items.filter((crd) => {
      const { names } = (crd as unknown as { readonly spec: { readonly names: { readonly categories?: readonly string[] } } }).spec;
      return names.categories?.includes("talos") === true;
    });
    assert.deepEqual(
      inTalos.map(({ metadata }) => metadata?.name),
      [
        "clusterrecords.talos-operator.dev",
        "etcdbackups.vitistack.io",
        "kubernetesclusters.vitistack.io",
        "talosclusteraddonreleases.talos.alperen.cloud",
        "talosclusteraddons.talos.alperen.cloud",
        "talosclusters.talos.alperen.cloud",
        "taloscontrolplanes.talos.alperen.cloud",
        "talosetcdbackups.talos.alperen.cloud",
        "talosetcdbackupschedules.talos.alperen.cloud",
        "talosmachines.talos.alperen.cloud",
        "talosworkers.talos.alperen.cloud",
      ],
    );
  }));

test("objects of the release before are brought up to date with one write of labels and one of the status each, and nobody is disturbed", () =>
  tell({}, async (world) => {
    await settled(world);
    await world.stop();
    for (const type of [kinds.cluster, kinds.controlPlane, kinds.worker, kinds.machine]) await makeOlder(world, type);
    const sent = world.sent.length;
    const from = world.writes.length;
    await world.start();
    await world.time.advance(120_000);
    const writes = world.writes.slice(from);
    const machines = writes.filter((write) => /\/talosmachines\/[^/]+$/.test(write));
    assert.deepEqual(machines.toSorted(), [...cps, ...workers].map((address) => `PATCH ${path}/talosmachines/demo-${address}`).toSorted());
    const statuses = Map.groupBy(
      writes.filter((write) => write.endsWith("/status")),
      (write) => write,
    );
    assert.equal(statuses.size, 8);
    for (const [write, all] of statuses) assert.ok(all.length <= 2, `${write}: ${all.length} times`);
    assert.deepEqual(world.sent.slice(sent), []);
    const machine = await world.get(kinds.machine, "demo-10.5.0.4");
    assert.deepEqual(machine?.metadata?.labels, {
      team: "a",
      "talos-operator.dev/cluster": "demo",
      "talos-operator.dev/pool": "demo",
      "talos-operator.dev/role": "worker",
    });
    await assertQuiet(world);
  }));

const path = "/apis/talos.alperen.cloud/v1alpha1/namespaces/default";

/** Takes away what the release before did not write. */
async function makeOlder(world: Story, type: (typeof kinds)["cluster"]): Promise<void> {
  const resource = world.client.resource<Conditioned>(type);
  for (const { metadata, status } of (await resource.list()).items) {
    const key = { namespace: "default", name: metadata?.name ?? "" };
    const {
      observedGeneration: _generation,
      role: _role,
      cluster: _cluster,
      pool: _pool,
      stage: _stage,
      ...older
    } = (status ?? {}) as Record<string, unknown>;
    const labels = type === kinds.machine ? { team: "a", "talos-operator.dev/cluster": null, "talos-operator.dev/pool": null } : {};
    const labelled = await resource.patch(key, { type: "merge", value: { metadata: { labels } } });
    await resource.updateStatus({ ...labelled, status: older });
  }
}
