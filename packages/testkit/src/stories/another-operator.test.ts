import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import { leaseType } from "@talos-operator/kube-runtime";
import { leaveBehind, leaveObjects } from "./left-behind.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const manifestOf = (peer: "talos-alperen-cloud" | "vitistack-io"): string =>
  readFileSync(new URL(`../../testdata/peers/${peer}.yaml`, import.meta.url), "utf8");

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];

const active = (world: Story): ReturnType<Story["condition"]> => world.condition(kinds.controlPlane, "AnotherOperatorActive");
const isTakenOver = (world: Story) => async (): Promise<boolean> =>
  (await world.condition(kinds.controlPlane, "Imported"))?.status === "True";

/** Writes a word into the status as another operator does. */
async function writeStatus(world: Story, type: ResourceType, manager = "manager"): Promise<void> {
  await world.client
    .resource(type)
    .patchStatus(
      { namespace: "default", name: "demo" },
      { type: "merge", value: { status: { bundleConfig: `{"at":${world.time.now()}}` } } },
      { fieldManager: manager },
    );
}

async function lease(world: Story, name: string): Promise<void> {
  const at = new Date(world.time.now()).toISOString().replace("Z", "000Z");
  const spec = {
    holderIdentity: "old-7d9f_1b4e28ba-2fa1-11d2-883f-0016d3cca427",
    leaseDurationSeconds: 15,
    renewTime: at,
    acquireTime: at,
  };
  await world.client.resource(leaseType).create({ metadata: { namespace: "kube-system", name }, spec } as KubeObject);
}

test("while the operator before still writes, nothing is taken over; ten minutes after its last write it is", () =>
  tell({}, async (world) => {
    const bundle = await leaveBehind(world);
    await leaveObjects(world, manifestOf("talos-alperen-cloud"), bundle);
    await world.start();
    await world.until("seen", async () => (await active(world))?.status === "True", 60);
    assert.match((await active(world))?.message ?? "", /manager wrote the finalizers of TalosControlPlane\/demo/);
    await world.time.advance(8 * 60_000);
    await writeStatus(world, kinds.controlPlane);
    await world.time.advance(8 * 60_000);
    assert.match((await active(world))?.message ?? "", /manager wrote the status of TalosControlPlane\/demo/);
    assert.equal(await world.get(kinds.secret, "demo-bundle-1"), undefined);
    assert.equal((await world.condition(kinds.controlPlane, "Ready"))?.reason, "AnotherOperatorActive");
    await world.until("taken over", isTakenOver(world), 240);
    assert.equal(await active(world), undefined);
  }));

for (const name of ["ffa5cb32.alperen.cloud", "6f93c133.vitistack.io"])
  test(`a live lease ${name} of somebody else holds a takeover up`, () =>
    tell({}, async (world) => {
      const bundle = await leaveBehind(world);
      await leaveObjects(world, manifestOf("vitistack-io"), bundle);
      await world.time.advance(11 * 60_000);
      await lease(world, name);
      await world.start();
      await world.until("seen", async () => (await active(world))?.status === "True", 60);
      assert.match((await active(world))?.message ?? "", new RegExp(`holds the lease kube-system/${name.replaceAll(".", "\\.")}`));
      assert.equal(await world.get(kinds.record), undefined);
      await world.client.resource(leaseType).delete({ namespace: "kube-system", name });
      await world.until("taken over", isTakenOver(world), 120);
    }));

test("before a wipe it is looked again: an operator that came back stops it, on a cluster that was taken over and on one of our own", () =>
  tell({}, async (world) => {
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(cps));
    await world.start();
    await world.untilReady();
    await writeStatus(world, kinds.controlPlane);
    await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
    await world.until("seen", async () => (await active(world))?.status === "True", 60);
    await world.time.advance(5 * 60_000);
    assert.deepEqual(
      world.sent.filter((call) => call.startsWith("Reset")),
      [],
    );
    await world.until("gone", async () => (await world.get(kinds.cluster)) === undefined, 1_200);
  }));

test("a person's own tools are no other operator", () =>
  tell({}, async (world) => {
    const bundle = await leaveBehind(world);
    await leaveObjects(world, manifestOf("talos-alperen-cloud"), bundle);
    await world.time.advance(11 * 60_000);
    await writeStatus(world, kinds.controlPlane, "kubectl-edit");
    await world.start();
    await world.until("taken over", isTakenOver(world), 60);
  }));
