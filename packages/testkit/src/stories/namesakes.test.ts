import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { findCondition, labels } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { apply, assertQuiet } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Conditioned, Story } from "./story.ts";

const namespaces = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };

type Keys = KubeObject & { readonly data?: Readonly<Record<string, string>> };

const inNamespace = <Kind extends KubeObject = Conditioned>(world: Story, kind: keyof typeof kinds, namespace: string, name = "demo") =>
  world.client.resource<Kind>(kinds[kind]).tryGet({ namespace, name });

async function isReady(world: Story, namespace: string): Promise<boolean> {
  const cluster = await inNamespace(world, "cluster", namespace);
  return cluster?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
}

async function bundleOf(world: Story, namespace: string): Promise<string | undefined> {
  return (await inNamespace<Keys>(world, "secret", namespace, "demo-bundle-1"))?.data?.["bundle"];
}

/** Two clusters of one name, ready, in `default` on 10.5.0.1 and in `other` on 10.5.0.2. */
async function twoOfOneName(world: Story): Promise<void> {
  await world.client.resource(namespaces).create({ metadata: { name: "other" } });
  const cluster = demoCluster(["10.5.0.2"], [], { endpoint: "https://10.5.0.101:6443" });
  await apply(world, kinds.cluster, demoCluster(["10.5.0.1"]));
  await apply(world, kinds.cluster, { ...cluster, metadata: { namespace: "other", name: "demo" } });
  await world.start();
  await world.until("both Ready", async () => (await isReady(world, "default")) && (await isReady(world, "other")));
}

describe("clusters of one name in two namespaces", () => {
  test("IN4: have keys, records and machines of their own", () =>
    tell({}, async (world) => {
      await twoOfOneName(world);
      const bundles = await Promise.all(["default", "other"].map((namespace) => bundleOf(world, namespace)));
      assert.ok(bundles.every((bundle) => bundle !== undefined));
      assert.notEqual(bundles[0], bundles[1]);
      for (const [namespace, address] of [
        ["default", "10.5.0.1"],
        ["other", "10.5.0.2"],
      ] as const) {
        const machines = await world.client.resource<Conditioned>(kinds.machine).list({ namespace });
        assert.deepEqual(
          machines.items.map(({ spec }) => spec?.["endpoint"]),
          [address],
        );
        assert.ok(await inNamespace(world, "record", namespace));
      }
      await assertQuiet(world);
    }));

  test("IN4: one is deleted: nothing of the other is touched", () =>
    tell({}, async (world) => {
      await twoOfOneName(world);
      const bundle = await bundleOf(world, "other");
      const sent = world.sent.length;
      await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
      await world.until("gone", async () => (await inNamespace(world, "cluster", "default")) === undefined, 900);
      assert.deepEqual(
        world.sent.slice(sent).filter((call) => !call.endsWith(" 10.5.0.1")),
        [],
      );
      assert.ok(await isReady(world, "other"));
      assert.equal(await bundleOf(world, "other"), bundle);
    }));

  test("IN8: the keys of one under the name that those of the other will have are not taken", () =>
    tell({}, async (world) => {
      await world.client.resource(namespaces).create({ metadata: { name: "other" } });
      await apply(world, kinds.cluster, demoCluster(["10.5.0.1"]));
      await world.start();
      await world.untilReady();
      const { metadata, ...theirs } = (await inNamespace<Keys>(world, "secret", "default", "demo-bundle-1"))!;
      const copy = { ...theirs, metadata: { namespace: "other", name: "demo-bundle-1", labels: metadata?.labels ?? {} } };
      await apply(world, kinds.secret, copy);
      const second = demoCluster(["10.5.0.2"], [], { endpoint: "https://10.5.0.101:6443" });
      await apply(world, kinds.cluster, { ...second, metadata: { namespace: "other", name: "demo" } });
      const sent = world.sent.length;
      await world.time.advance(120_000);
      const status = (await inNamespace(world, "controlPlane", "other"))?.status;
      const said = findCondition(status?.conditions, "SecretsLost");
      assert.equal(said?.reason, "BundleOfAnother");
      assert.match(said.message, /keys of a cluster in another namespace.*Delete that Secret/);
      assert.doesNotMatch(said.message, /default/);
      assert.deepEqual(world.sent.slice(sent), []);
      assert.ok(!JSON.stringify(status).includes(theirs.data?.["bundle"] ?? "?"));
      await assertQuiet(world);
      const key = { namespace: "other", name: "demo-bundle-1" };
      await world.client.resource(kinds.secret).delete(key);
      await world.until("Ready with its own", () => isReady(world, "other"));
      assert.notEqual(await bundleOf(world, "other"), theirs.data?.["bundle"]);
    }));
});

describe("labels that only the operator sets", () => {
  test("IN19: make nobody a control plane, and a Secret nobody's keys", () =>
    tell({}, async (world) => {
      const secret = (name: string, secretKind: string) => ({
        metadata: { namespace: "default", name, labels: { [labels.cluster]: "demo", [labels.secretKind]: secretKind } },
        data: { bundle: "Zm9yZ2Vk" },
      });
      await apply(world, kinds.secret, secret("forged", "bundle"));
      await apply(world, kinds.cluster, demoCluster(["10.5.0.1"], ["10.5.0.4"]));
      await world.start();
      await world.untilReady();
      const sent = world.sent.length;
      const machines = world.client.resource<Conditioned>(kinds.machine);
      const worker = (await machines.list({ namespace: "default" })).items.find(({ spec }) => spec?.["endpoint"] === "10.5.0.4");
      const key = { namespace: "default", name: worker?.metadata?.name ?? "" };
      await machines.patch(key, { type: "merge", value: { metadata: { labels: { [labels.role]: "controlplane" } } } });
      await world.client
        .resource(kinds.cluster)
        .patch(
          { namespace: "default", name: "demo" },
          { type: "merge", value: { metadata: { labels: { [labels.cluster]: "another", [labels.role]: "worker" } } } },
        );
      await world.time.advance(300_000);
      assert.deepEqual(world.sent.slice(sent), []);
      assert.equal((await world.condition(kinds.cluster, "Ready"))?.status, "True");
      assert.equal((await machines.tryGet(key))?.spec?.["controlPlaneRef"], undefined);
      const forged = await inNamespace<Keys>(world, "secret", "default", "forged");
      assert.equal(forged?.data?.["bundle"], "Zm9yZ2Vk");
    }));
});
