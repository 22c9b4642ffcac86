import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { cluster, host, hostType, install, reference } from "./hosts.ts";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Conditioned, Story } from "./story.ts";

const three = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];

/** A TalosMachine of nobody, by a name that a cluster needs for a machine of its own. */
async function takeName(world: Story, name: string): Promise<void> {
  await world.client.resource(kinds.machine).create({
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosMachine",
    metadata: { namespace: "default", name },
    spec: { endpoint: "10.5.0.99", version: "v1.13.0" },
  } as Conditioned);
}

/** The cluster as its document says now. */
async function edit(world: Story, { spec }: { readonly spec?: unknown }): Promise<void> {
  await world.client.resource(kinds.cluster).patch({ namespace: "default", name: "demo" }, { type: "merge", value: { spec } });
}

const ready = (world: Story, kind: keyof typeof kinds): ReturnType<Story["condition"]> => world.condition(kinds[kind], "Ready");

describe("a TalosMachine of somebody else has the name that a machine needs", () => {
  test("a control plane is not configured, the cluster says whose the object is, and goes on when it is gone", () =>
    tell({}, async (world) => {
      await takeName(world, "demo-10.5.0.1");
      await apply(world, kinds.cluster, demoCluster(["10.5.0.1"]));
      await world.start();
      await world.until("said", async () => (await ready(world, "controlPlane"))?.reason === "NameConflict");
      assert.match((await ready(world, "controlPlane"))?.message ?? "", /demo-10\.5\.0\.1 has its name and belongs to no cluster/);
      assert.deepEqual(world.sent, []);
      await world.client.resource(kinds.machine).delete({ namespace: "default", name: "demo-10.5.0.1" });
      await world.untilReady();
    }));

  test("a cluster that runs rolls out settings all the same", () =>
    tell({}, async (world) => {
      await takeName(world, "demo-10.5.0.4");
      await apply(world, kinds.cluster, demoCluster(three));
      await world.start();
      await world.untilReady();
      await edit(world, demoCluster([...three, "10.5.0.4", "10.5.0.5"]));
      await world.until("said", async () => (await ready(world, "controlPlane"))?.reason === "NameConflict");
      const { spec } = demoCluster([...three, "10.5.0.4", "10.5.0.5"]);
      const metalSpec = spec?.controlPlane?.metalSpec;
      const machineSpec = { ...metalSpec?.machineSpec, configPatches: [{ machine: { nodeLabels: { room: "12" } } }] };
      await edit(world, { spec: { ...spec, controlPlane: { ...spec?.controlPlane, metalSpec: { ...metalSpec, machineSpec } } } });
      await world.until(
        "the label is on the machine that runs",
        () => Promise.resolve(world.sent.filter((one) => one === "ApplyConfiguration 10.5.0.1").length > 1),
        180,
      );
      assert.equal(
        world.sent.some((one) => one.endsWith(" 10.5.0.4")),
        false,
      );
    }));

  test("a worker is not configured, and its pool says whose the object is", () =>
    tell({}, async (world) => {
      await takeName(world, "demo-10.5.0.4");
      await apply(world, kinds.cluster, demoCluster(["10.5.0.1"], ["10.5.0.4"]));
      await world.start();
      await world.until("said", async () => (await ready(world, "worker"))?.reason === "NameConflict");
      assert.match((await ready(world, "worker"))?.message ?? "", /default\/demo-10\.5\.0\.4 has its name/);
      assert.equal(
        world.sent.some((one) => one.endsWith(" 10.5.0.4")),
        false,
      );
      await world.client.resource(kinds.machine).delete({ namespace: "default", name: "demo-10.5.0.4" });
      await world.untilReady();
    }));
});

describe("references in two pools of one cluster give machines one name", () => {
  const ofPath = (name: string, path: string): object => reference(name, { fieldPath: path });

  async function begin(world: Story, controlPlanes: readonly object[], workers: readonly object[]): Promise<void> {
    await install(world);
    await world.client.resource(hostType).create({
      apiVersion: "hosts.example.dev/v1",
      kind: "Host",
      metadata: { namespace: "default", name: "alpha" },
      status: { first: "10.5.0.1", second: "10.5.0.2" },
    } as Conditioned);
    await host(world, "beta", "10.5.0.4");
    await host(world, "gamma", "10.5.0.3");
    await apply(world, kinds.cluster, cluster(controlPlanes, workers));
    await world.start();
  }

  test("the control plane has it, the pool of the worker says so, and goes on under another name", () =>
    tell({}, async (world) => {
      await begin(world, [ofPath("alpha", ".status.first")], [ofPath("alpha", ".status.second")]);
      await world.until("said", async () => (await ready(world, "worker"))?.reason === "NameConflict");
      await world.until("the control plane runs", async () => (await ready(world, "controlPlane"))?.status === "True");
      assert.match((await ready(world, "worker"))?.message ?? "", /called demo-alpha, as that of TalosControlPlane\/demo/);
      assert.equal(
        world.sent.some((one) => one.endsWith(" 10.5.0.2")),
        false,
      );
      await edit(world, cluster([ofPath("alpha", ".status.first")], [reference("beta")]));
      await world.untilReady();
    }));

  test("the worker that has it keeps it: nothing is sent to the control plane that would take it, and it is said", () =>
    tell({}, async (world) => {
      await begin(world, [reference("beta")], [ofPath("alpha", ".status.first")]);
      await world.untilReady();
      const sent = world.sent.length;
      await edit(
        world,
        cluster([reference("beta"), ofPath("alpha", ".status.second"), reference("gamma")], [ofPath("alpha", ".status.first")]),
      );
      const refused = (): ReturnType<Story["condition"]> => world.condition(kinds.controlPlane, "EditRefused");
      await world.until("said", async () => (await refused())?.status === "True");
      assert.match((await refused())?.message ?? "", /machines\[1\]: its TalosMachine would be called demo-alpha/);
      await world.time.advance(300_000);
      assert.equal(world.sent.length, sent);
      await edit(world, cluster([reference("beta")], [ofPath("alpha", ".status.first")]));
      await world.untilReady();
    }));
});
