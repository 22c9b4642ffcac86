import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { leaveBehind } from "./left-behind.ts";
import { leaveComposed, leftMachines as ran } from "./left-composed.ts";
import { kinds, tell } from "./story.ts";
import type { Conditioned, Story } from "./story.ts";

const key = { namespace: "default", name: "demo" };

const machineNames = async (world: Story) =>
  (await world.client.resource(kinds.vitistackMachine).list()).items.map(({ metadata }) => metadata?.name ?? "").toSorted();
const nodes = (world: Story): unknown => world.datacenter.machines().map(({ address, state }) => [address, state.stage, state.bootId]);
const imported = (world: Story) => world.condition(kinds.controlPlane, "Imported");
const machine = (world: Story, name: string): Promise<Conditioned> =>
  world.client.resource<Conditioned & KubeObject>(kinds.vitistackMachine).get({ namespace: "default", name });

describe("a KubernetesCluster that the operator of these kinds made", () => {
  test("is verified and told without a word from anybody, and taken over with one: keys, nodes and its Secret stay as they are (A007)", () =>
    tell({}, async (world) => {
      const bundle = await leaveBehind(world);
      const before = nodes(world);
      const calls = world.sent.length;
      await leaveComposed(world, bundle, {}, 1);
      const left = (await world.get(kinds.secret)) as { readonly data?: unknown };
      await world.time.advance(11 * 60_000);
      await world.start();
      // Fewer are wanted than run: none of them is dropped for that.
      const ready = () => world.condition(kinds.kubernetesCluster, "Ready");
      await world.until("said", async () => /demo-ctp2, demo-ctp1 exist and are not in the spec/.test((await ready())?.message ?? ""));
      await world.time.advance(300_000);
      assert.deepEqual([await world.get(kinds.controlPlane), await machineNames(world)], [undefined, ran]);
      const value = { spec: { topology: { controlplane: { replicas: 3 } } } };
      await world.client.resource(kinds.kubernetesCluster).patch(key, { type: "merge", value });
      await world.until("told", async () => (await imported(world))?.reason === "ApprovalRequired", 300);
      await world.time.advance(300_000);
      assert.equal(await world.get(kinds.secret, "demo-bundle-1"), undefined);
      assert.deepEqual((await machine(world, "demo-ctp0")).spec, {
        name: "demo-ctp0",
        provider: "proxmox",
        machineClass: "huge",
        tags: { cluster: "demo" },
      });
      assert.deepEqual([world.sent.slice(calls), nodes(world)], [[], before]);
      const [, hash = ""] = /import-approve: ([0-9a-f]{10})/.exec((await imported(world))?.message ?? "") ?? [];
      await world.annotate(kinds.controlPlane, "talos-operator.dev/import-approve", hash);
      await world.until("taken over", async () => (await imported(world))?.status === "True", 120);
      await world.until("ready", async () => (await world.condition(kinds.kubernetesCluster, "Ready"))?.status === "True", 300);
      await world.time.advance(600_000);
      const copy = (await world.get(kinds.secret, "demo-bundle-1")) as { readonly data?: Record<string, string> } | undefined;
      assert.equal(copy?.data?.["bundle"], bundle);
      assert.deepEqual(((await world.get(kinds.secret)) as { readonly data?: unknown }).data, left.data);
      assert.deepEqual([world.sent.slice(calls), nodes(world)], [[], before]);
      assert.deepEqual(await machineNames(world), ran);
      // The finalizer of that operator is honoured to the end, and goes with ours.
      const finalizers = async () => (await world.get(kinds.kubernetesCluster))?.metadata?.finalizers?.toSorted();
      assert.deepEqual(await finalizers(), ["cluster.vitistack.io/finalizer", "kubernetescluster.vitistack.io/finalizer"]);
      await world.client.resource(kinds.kubernetesCluster).delete(key);
      await world.until("gone", async () => (await world.get(kinds.kubernetesCluster)) === undefined, 1_800);
      assert.deepEqual(await machineNames(world), []);
    }));

  for (const [how, annotations] of Object.entries({ asked: { "talos.alperen.cloud/reconcile-mode": "import" }, found: {} }))
    test(`keeps its Machines when it is deleted before it was taken over, until a person says what becomes of them (${how})`, () =>
      tell({}, async (world) => {
        const bundle = await leaveBehind(world);
        const before = nodes(world);
        const calls = world.sent.length;
        await leaveComposed(world, bundle, annotations);
        await world.time.advance(11 * 60_000);
        await world.start();
        await world.until("told", async () => (await imported(world))?.reason === "ApprovalRequired", 300);
        const [, hash = ""] = /import-approve: ([0-9a-f]{10})/.exec((await imported(world))?.message ?? "") ?? [];
        await world.client.resource(kinds.kubernetesCluster).delete(key);
        await world.time.advance(300_000);
        assert.deepEqual([await machineNames(world), world.sent.slice(calls), nodes(world)], [ran, [], before]);
        const deleting = await world.condition(kinds.kubernetesCluster, "Deleting");
        assert.deepEqual([deleting?.reason, /not taken over yet.*demo-ctp0.*Approve/.test(deleting?.message ?? "")], ["Blocked", true]);
        await world.annotate(kinds.controlPlane, "talos-operator.dev/import-approve", hash);
        await world.until("gone", async () => (await world.get(kinds.kubernetesCluster)) === undefined, 1_800);
        const wiped = world.datacenter
          .machines()
          .slice(0, ran.length)
          .map(({ state }) => state.stage);
        assert.deepEqual([await machineNames(world), wiped], [[], ran.map(() => "maintenance")]);
      }));

  test("is not touched while that operator is at work: nothing of ours is put on it or made for it, and a takeover that began stops", () =>
    tell({}, async (world) => {
      const bundle = await leaveBehind(world);
      const calls = world.sent.length;
      await leaveComposed(world, bundle);
      const clusters = world.client.resource(kinds.kubernetesCluster);
      const theirs = "kubernetescluster.vitistack.io/finalizer";
      const writes = async (other: string): Promise<void> => {
        const value = {
          metadata: { finalizers: [...((await clusters.get(key)).metadata?.finalizers ?? []), `inventory.example.org/${other}`] },
        };
        await clusters.patch(key, { type: "merge", value }, { fieldManager: "viti-talos-operator" });
      };
      await world.time.advance(11 * 60_000);
      await writes("one");
      await world.start();
      const active = (kind: (typeof kinds)["kubernetesCluster"]) => world.condition(kind, "AnotherOperatorActive");
      await world.until("seen", async () => (await active(kinds.kubernetesCluster))?.status === "True", 60);
      assert.match(
        (await active(kinds.kubernetesCluster))?.message ?? "",
        /viti-talos-operator wrote the finalizers of KubernetesCluster\/demo.*scale its Deployment to 0/,
      );
      await world.time.advance(5 * 60_000);
      await writes("two");
      await world.time.advance(9 * 60_000);
      assert.equal((await world.condition(kinds.kubernetesCluster, "Ready"))?.reason, "AnotherOperatorActive");
      const there = await world.get(kinds.kubernetesCluster);
      assert.deepEqual(there?.metadata?.finalizers, [theirs, "inventory.example.org/one", "inventory.example.org/two"]);
      assert.deepEqual([await world.get(kinds.controlPlane), world.sent.slice(calls)], [undefined, []]);
      assert.equal((await machine(world, "demo-ctp0")).metadata?.annotations, undefined);

      await world.until("told", async () => (await imported(world))?.reason === "ApprovalRequired", 600);
      assert.equal(await active(kinds.kubernetesCluster), undefined);
      const [, hash = ""] = /import-approve: ([0-9a-f]{10})/.exec((await imported(world))?.message ?? "") ?? [];
      await writes("three");
      await world.annotate(kinds.controlPlane, "talos-operator.dev/import-approve", hash);
      await world.until("seen", async () => (await active(kinds.controlPlane))?.status === "True", 60);
      assert.equal(await world.get(kinds.secret, "demo-bundle-1"), undefined);
      await world.until("taken over", async () => (await imported(world))?.status === "True", 900);
      assert.deepEqual(world.sent.slice(calls), []);
    }));

  test("is left alone when its Secret is gone: no new keys, nothing sent", () =>
    tell({}, async (world) => {
      const bundle = await leaveBehind(world);
      const calls = world.sent.length;
      await leaveComposed(world, bundle, { "talos.alperen.cloud/reconcile-mode": "import" });
      await world.client.resource(kinds.secret).delete(key);
      await world.time.advance(11 * 60_000);
      await world.start();
      await world.until("told", async () => /Secret demo: it does not exist/.test((await imported(world))?.message ?? ""), 300);
      await world.time.advance(300_000);
      assert.deepEqual(world.sent.slice(calls), []);
      assert.deepEqual((await world.client.resource(kinds.secret).list()).items, []);
    }));
});
