import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { demoTimings } from "@talos-operator/simulator";
import { flatCluster, tellComposition } from "./composition.ts";
import type { CompositionStory } from "./composition.ts";
import { HeldWatch } from "./held-watch.ts";
import { cluster, host, install, reference } from "./hosts.ts";
import { Interruption } from "./interruption.ts";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const withoutEndpoint = { clusterEndpoint: undefined };

/** What is left behind of a cluster, by kind and name. */
async function left({ client }: Story): Promise<readonly string[]> {
  const types = [
    kinds.kubernetesCluster,
    kinds.cluster,
    kinds.controlPlane,
    kinds.worker,
    kinds.machine,
    kinds.vitistackMachine,
    kinds.record,
    kinds.secret,
  ];
  const lists = await Promise.all(types.map(async (type) => (await client.resource(type).list()).items));
  return lists.flat().map(({ kind, metadata }) => `${kind ?? ""}/${metadata?.name ?? ""}`);
}

/** Deletes a cluster and tells what was sent to machines afterwards. */
async function remove(
  world: Story,
  meanwhile: () => Promise<void>,
  { type = kinds.kubernetesCluster, seconds = 30 } = {},
): Promise<readonly string[]> {
  const before = world.sent.length;
  await world.client.resource(type).delete({ namespace: "default", name: "demo" });
  await meanwhile();
  await world.until("gone", async () => (await left(world)).length === 0, seconds);
  return world.sent.slice(before);
}

const nothing = async (): Promise<void> => undefined;

async function make(world: CompositionStory, over: Record<string, unknown>): Promise<void> {
  await world.client.resource(kinds.kubernetesCluster).create(flatCluster(3, { a: 2, b: 1 }, over));
}

test("an operator that ends between keys and record leaves a cluster that the next one makes, or takes down, as if nothing had been", () => {
  const cut = new Interruption();
  return tell({ kube: cut.kube, timings: demoTimings }, async (world) => {
    const controlPlanes = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
    for (const address of controlPlanes) world.datacenter.machine(address).powerOff();
    cut.begin({ call: /^POST .*\/secrets$/, side: "after", isKilled: true }, nothing);
    await apply(world, kinds.cluster, demoCluster(controlPlanes));
    await world.start();
    await world.time.advance(5_000);
    assert.notEqual(cut.metAt, undefined);
    assert.equal((await world.client.resource(kinds.record).list()).items.length, 0);
    // More than one leader comes and goes.
    await cut.tend(world);
    await world.time.advance(20_000);
    const told = JSON.stringify((await world.client.resource(kinds.record).list()).items);
    assert.match(told, /NewCluster/);
    assert.doesNotMatch(told, /BundleFound|foundAt/);
    assert.doesNotMatch((await world.condition(kinds.controlPlane, "Ready"))?.message ?? "", /was lost/);
    assert.deepEqual(await remove(world, nothing, { type: kinds.cluster, seconds: 60 }), []);
  });
});

describe("a KubernetesCluster that is deleted while it is made", () => {
  for (const [endpoint, over] of [
    ["without an endpoint", withoutEndpoint],
    ["with an endpoint", {}],
  ] as const) {
    for (const [what, given] of [
      ["no Machine has an address", []],
      ["only a worker has an address", ["demo-a-0"]],
      ["only the first control plane has an address", ["demo-cp-0"]],
      ["another control plane and a worker have an address", ["demo-cp-1", "demo-b-0"]],
    ] as const) {
      const tellHeld = (story: (world: CompositionStory) => Promise<void>): Promise<void> =>
        tellComposition({ timings: demoTimings }, async (world) => {
          world.provider.hold(true, given);
          await make(world, over);
          await world.start();
          await world.time.advance(30_000);
          await story(world);
        });
      test(`goes ${endpoint} where ${what}`, () =>
        tellHeld(async (world) => {
          const sent = await remove(world, nothing);
          assert.deepEqual(
            sent.filter((call) => !call.startsWith("Reset ")),
            [],
          );
        }));

      test(`goes ${endpoint} where ${what} and the others come a moment later`, () =>
        tellHeld(async (world) => {
          const sent = await remove(world, async () => world.provider.hold(false));
          assert.deepEqual(
            sent.filter((call) => !call.startsWith("Reset ")),
            [],
          );
        }));

      test(`goes ${endpoint} where ${what} and another process finds it`, () =>
        tellHeld(async (world) => {
          await world.kill();
          const sent = await remove(world, () => world.start());
          assert.deepEqual(
            sent.filter((call) => !call.startsWith("Reset ")),
            [],
          );
        }));
    }

    test(`goes ${endpoint} at every moment of its making, and gets no configuration any more`, async () => {
      for (const moment of [0, 1_200, 2_300, 3_400, 5_000, 9_000])
        await tellComposition({ timings: demoTimings }, async (world) => {
          await world.start();
          await make(world, over);
          await world.time.advance(moment);
          const sent = await remove(world, nothing, { seconds: 60 });
          assert.deepEqual(
            sent.filter((call) => call.startsWith("ApplyConfiguration ")),
            [],
            `deleted after ${moment} ms`,
          );
        });
    });
  }

  test("is configured no further, though no watch tells of the deletion", async () => {
    for (const path of ["/kubernetesclusters", "/taloscontrolplanes", "/talosworkers"]) {
      const watch = new HeldWatch(path);
      await tellComposition({ timings: demoTimings, kube: (real) => watch.kube(real) }, async (world) => {
        world.provider.hold(true, ["demo-cp-0"]);
        await make(world, {});
        await world.start();
        await world.time.advance(1_500);
        watch.hold();
        const sent = await remove(world, async () => {
          world.provider.hold(false);
          await world.time.advance(60_000);
          watch.goOn();
        });
        assert.deepEqual(
          sent.filter((call) => call.startsWith("ApplyConfiguration ")),
          [],
          path,
        );
      });
    }
  });
});

describe("a TalosCluster whose machines are found by reference, and that is deleted while it is made", () => {
  const type = kinds.cluster;
  for (const [what, there] of [
    ["no machine is found", []],
    ["only a worker is found", ["worker-a"]],
    ["one control plane is found", ["cp-b"]],
  ] as const)
    for (const [endpoint, over] of [
      ["without an endpoint", { endpoint: undefined }],
      ["with an endpoint", {}],
    ] as const)
      test(`goes ${endpoint} where ${what}, and the others come a moment later`, () =>
        tell({ timings: demoTimings }, async (world) => {
          const addresses = { "cp-a": "10.5.0.1", "cp-b": "10.5.0.2", "cp-c": "10.5.0.3", "worker-a": "10.5.0.4" };
          await install(world);
          for (const name of there) await host(world, name, addresses[name]);
          const wanted = cluster(
            ["cp-a", "cp-b", "cp-c"].map((name) => reference(name)),
            [reference("worker-a")],
          ) as { readonly spec: { readonly controlPlane: object } };
          const spec = { ...wanted.spec, controlPlane: { ...wanted.spec.controlPlane, ...over } };
          await apply(world, type, { ...wanted, spec });
          await world.start();
          await world.time.advance(10_000);
          const come = async (): Promise<void> => {
            for (const [name, address] of Object.entries(addresses)) await host(world, name, address);
          };
          const sent = await remove(world, come, { type });
          assert.deepEqual(
            sent.filter((call) => call.startsWith("ApplyConfiguration ")),
            [],
          );
        }));
});
