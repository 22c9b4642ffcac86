import assert from "node:assert/strict";
import { test } from "node:test";
import { findCondition } from "@talos-operator/api";
import type { Condition } from "@talos-operator/api";
import { parseSecretsBundle } from "@talos-operator/talos";
import type { TalosDialer } from "@talos-operator/ports";
import { without } from "./without.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Conditioned, Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const workers = ["10.5.0.4"];

async function ready(world: Story): Promise<void> {
  await world.client.resource(kinds.cluster).create(demoCluster(cps, workers));
  await world.start();
  await world.untilReady();
}

/** Wipes a machine behind the operator's back: it answers in maintenance mode with a new key afterwards. */
async function wipe(world: Story, address: string): Promise<void> {
  const secret = await world.client
    .resource<{ readonly metadata?: object; readonly data?: Readonly<Record<string, string>> }>(kinds.secret)
    .get({ namespace: "default", name: "demo-bundle-1" });
  const bundle = parseSecretsBundle(Buffer.from(Object.values(secret.data ?? {})[0] ?? "", "base64").toString("utf8"));
  const { certificate, key } = await world.keys.signCertificate(bundle.certs.os, {
    usage: "client",
    organizations: ["os:admin"],
    notBefore: world.time.now() - 1000,
    lifetimeMs: 600_000,
  });
  const channel = world.datacenter.dialer().dial({ address }, { kind: "mutual", ca: bundle.certs.os.certificate, certificate, key });
  const { createTalosClient } = await import("@talos-operator/talos/client");
  await createTalosClient(channel).reset({ graceful: false, reboot: true });
  channel.close();
}

test("IN61: a wiped machine is not configured again without a word, and is with one that names it, once", () =>
  tell({}, async (world) => {
    await ready(world);
    await wipe(world, "10.5.0.4");
    await world.until(
      "MaintenanceUnexpected",
      async () => (await world.condition(kinds.machine, "Ready", "demo-10.5.0.4"))?.reason === "MaintenanceUnexpected",
    );
    await world.until("the pool says so", async () => (await world.condition(kinds.worker, "Ready"))?.reason === "MaintenanceUnexpected");
    const applies = (): number => world.effects.filter((effect) => effect === "ApplyConfiguration 10.5.0.4").length;
    await world.time.advance(300_000);
    assert.equal(applies(), 1);
    const uuid = /approve-reprovision: (\S+)/.exec((await world.condition(kinds.worker, "Ready"))?.message ?? "")?.[1];
    await world.annotate(kinds.controlPlane, "talos-operator.dev/approve-reprovision", "somebody-else");
    await world.time.advance(60_000);
    assert.equal(applies(), 1);
    await world.annotate(kinds.controlPlane, "talos-operator.dev/approve-reprovision", uuid);
    await world.untilReady();
    assert.equal(applies(), 2);
    assert.equal((await world.get(kinds.controlPlane))?.metadata?.annotations?.["talos-operator.dev/approve-reprovision"], undefined);
  }));

test("IN54: a machine belongs to the cluster that had it first; the later one hears it and sends nothing", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.time.advance(2_000);
    const before = world.effects.length;
    const { spec } = demoCluster(["10.5.0.4"]);
    await world.client.resource(kinds.controlPlane).create({
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosControlPlane",
      metadata: { namespace: "default", name: "thief" },
      spec: spec?.controlPlane,
    } as object);
    await world.until("refused", async () => (await world.condition(kinds.controlPlane, "Ready", "thief"))?.reason === "DuplicateAddress");
    assert.match(
      (await world.condition(kinds.controlPlane, "Ready", "thief"))?.message ?? "",
      /is also at TalosWorker default\/demo spec\./,
    );
    await world.time.advance(60_000);
    assert.equal(world.effects.length, before);
    assert.equal((await world.condition(kinds.cluster, "Ready"))?.status, "True");
  }));

for (const { what, endpoint, says } of [
  {
    what: "a control plane",
    endpoint: "https://10.5.0.1:6443",
    says: /spec\.endpoint: it is the address of a machine of another cluster, TalosControlPlane default\/demo/,
  },
  {
    what: "a worker",
    endpoint: "https://10.5.0.4:6443",
    says: /spec\.endpoint: it is the address of a machine of another cluster, TalosWorker default\/demo/,
  },
  {
    what: "the endpoint",
    endpoint: "https://10.5.0.100:6443",
    says: /spec\.endpoint: it is the endpoint of another cluster, TalosControlPlane default\/demo/,
  },
])
  test(`a cluster whose endpoint is ${what} of another one is refused before anything is made, and goes on when it names its own`, () =>
    tell({}, async (world) => {
      await ready(world);
      await world.time.advance(2_000);
      const before = world.effects.length;
      const { spec } = demoCluster(["10.5.0.6"], [], { endpoint });
      const body = {
        apiVersion: "talos.alperen.cloud/v1alpha1",
        kind: "TalosControlPlane",
        metadata: { namespace: "default", name: "newer" },
        spec: spec?.controlPlane,
      };
      await world.client.resource(kinds.controlPlane).create(body);
      await world.until(
        "refused",
        async () => (await world.condition(kinds.controlPlane, "Ready", "newer"))?.reason === "DuplicateAddress",
      );
      assert.match((await world.condition(kinds.controlPlane, "Ready", "newer"))?.message ?? "", says);
      await world.time.advance(60_000);
      assert.equal(world.effects.length, before);
      assert.equal(await world.get(kinds.secret, "newer-bundle-1"), undefined);
      assert.equal((await world.condition(kinds.cluster, "Ready"))?.status, "True");
      const value = { spec: { endpoint: "https://10.5.0.6:6443" } };
      await world.client.resource(kinds.controlPlane).patch({ namespace: "default", name: "newer" }, { type: "merge", value });
      await world.until("ready", async () => (await world.condition(kinds.controlPlane, "Ready", "newer"))?.status === "True");
    }));

test("IN57: a machine that is configured for a cluster nobody here knows is left alone and named", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.stop();
    const finalizers = { type: "merge", value: { metadata: { finalizers: null } } } as const;
    for (const [type, name] of [
      [kinds.cluster, "demo"],
      [kinds.controlPlane, "demo"],
      [kinds.worker, "demo"],
      ...[...cps, ...workers].map((address) => [kinds.machine, `demo-${address}`] as const),
      [kinds.record, "demo"],
      [kinds.secret, "demo-bundle-1"],
    ] as const) {
      await world.client.resource(type).patch({ namespace: "default", name }, finalizers);
      await world.client
        .resource(type)
        .delete({ namespace: "default", name })
        .catch(() => undefined);
    }
    await world.time.advance(5_000);
    const before = world.effects.length;
    await world.client.resource(kinds.cluster).create(demoCluster(["10.5.0.1"]));
    await world.start();
    await world.until("ForeignCluster", async () => (await world.condition(kinds.controlPlane, "Ready"))?.reason === "ForeignCluster");
    await world.time.advance(60_000);
    assert.equal(world.effects.length, before);
  }));

test("keys that are gone stop everything, are never made anew, and come back with the Secret", () =>
  tell({}, async (world) => {
    await ready(world);
    const secrets = world.client.resource<{ readonly metadata?: { readonly finalizers?: readonly string[] } }>(kinds.secret);
    const key = { namespace: "default", name: "demo-bundle-1" };
    const saved = await secrets.get(key);
    await secrets.patch(key, { type: "merge", value: { metadata: { finalizers: null } } });
    await secrets.delete(key);
    await world.until("SecretsLost", async () => (await world.condition(kinds.controlPlane, "SecretsLost"))?.reason === "BundleMissing");
    assert.equal((await world.condition(kinds.cluster, "Ready"))?.status, "False");
    await world.stop();
    await world.start();
    await world.time.advance(120_000);
    assert.equal(await world.get(kinds.secret, "demo-bundle-1"), undefined);
    const { resourceVersion: _version, uid: _uid, ...metadata } = saved.metadata as Record<string, unknown>;
    await secrets.create({ ...saved, metadata });
    await world.untilReady();
    assert.equal(await world.condition(kinds.controlPlane, "SecretsLost"), undefined);
  }));

test("a bundle with other content stops everything", () =>
  tell({}, async (world) => {
    await ready(world);
    const secrets = world.client.resource<{ readonly metadata?: object; readonly data?: Readonly<Record<string, string>> }>(kinds.secret);
    const key = { namespace: "default", name: "demo-bundle-1" };
    const saved = await secrets.get(key);
    await secrets.patch(key, { type: "merge", value: { metadata: { finalizers: null } } });
    await secrets.delete(key);
    const data = Object.fromEntries(
      Object.entries(saved.data ?? {}).map(([name, text]) => [
        name,
        Buffer.from(
          Buffer.from(text, "base64")
            .toString("utf8")
            .replace(/secret: ./, "secret: Z"),
        ).toString("base64"),
      ]),
    );
    const { resourceVersion: _version, uid: _uid, ...metadata } = saved.metadata as Record<string, unknown>;
    await secrets.create({ ...saved, metadata, data });
    await world.until("SecretsLost", async () => (await world.condition(kinds.controlPlane, "SecretsLost")) !== undefined);
    const effects = world.effects.length;
    await world.time.advance(120_000);
    assert.equal(world.effects.length, effects);
  }));

test("a lost record is filled again from what the machines prove, without a second founding", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.stop();
    const records = world.client.resource(kinds.record);
    await records.patch({ namespace: "default", name: "demo" }, { type: "merge", value: { metadata: { finalizers: null } } });
    await records.delete({ namespace: "default", name: "demo" });
    const effects = world.effects.length;
    await world.start();
    await world.until(
      "the record is back",
      async () => ((await world.get(kinds.record))?.spec?.["bootstrap"] as { readonly done?: object } | undefined)?.done !== undefined,
    );
    await world.untilReady();
    await world.time.advance(60_000);
    assert.equal(world.effects.length, effects);
  }));

test("a restart, and a status that was taken away, change nothing in the end", () =>
  tell({}, async (world) => {
    await ready(world);
    const effects = world.effects.length;
    await world.stop();
    await world.client
      .resource(kinds.controlPlane)
      .patchStatus({ namespace: "default", name: "demo" }, { type: "merge", value: { status: null } });
    await world.start();
    await world.until("the status is back", async () => (await world.get(kinds.controlPlane))?.status?.state === "Ready", 30);
    await world.untilReady(30);
    assert.equal(world.effects.length, effects);
  }));

test("an object that was made anew under the same name touches nothing until a person adopts the cluster", () =>
  tell({}, async (world) => {
    await ready(world);
    await world.stop();
    const finalizers = { type: "merge", value: { metadata: { finalizers: null } } } as const;
    for (const type of [kinds.cluster, kinds.controlPlane, kinds.worker])
      await world.client.resource(type).patch({ namespace: "default", name: "demo" }, finalizers);
    for (const type of [kinds.cluster, kinds.controlPlane, kinds.worker])
      await world.client.resource(type).delete({ namespace: "default", name: "demo" });
    await world.time.advance(5_000);
    const effects = world.effects.length;
    await world.client.resource(kinds.cluster).create(demoCluster(cps, workers));
    await world.start();
    await world.until("AdoptionRequired", async () => (await world.condition(kinds.controlPlane, "AdoptionRequired")) !== undefined);
    await world.time.advance(60_000);
    assert.equal(world.effects.length, effects);
    const clusterId = (await world.get(kinds.record))?.spec?.["clusterId"] as string;
    assert.match(
      (await world.condition(kinds.controlPlane, "Ready"))?.message ?? "",
      /Annotate the TalosControlPlane with talos-operator\.dev\/adopt/,
    );
    await world.annotate(kinds.controlPlane, "talos-operator.dev/adopt", clusterId);
    await world.untilReady();
    assert.equal(world.effects.length, effects);
    const words = async (): Promise<string> => JSON.stringify((await world.get(kinds.controlPlane))?.metadata?.annotations ?? {});
    await world.until("answered", async () => !(await words()).includes("talos-operator.dev/adopt"));
    const events = (await world.client.resource(kinds.event).list()).items.map((event) => JSON.stringify(event));
    assert.equal(events.filter((event) => event.includes("belongs to this object")).length, 1);
  }));

test("a machine whose plug is pulled is missed by name, and welcomed back", () =>
  tell({}, async (world) => {
    await ready(world);
    world.datacenter.machine("10.5.0.2").setConnected(false);
    await world.until("missed", async () => (await world.condition(kinds.controlPlane, "EtcdHealthy"))?.reason === "MemberMissing");
    assert.match((await world.condition(kinds.controlPlane, "Ready"))?.message ?? "", /demo-10\.5\.0\.2/);
    world.datacenter.machine("10.5.0.2").setConnected(true);
    await world.untilReady();
  }));

test("the call to bootstrap etcd goes to the machine that was written down, not to one that took its address", () => {
  let isHeld = true;
  const lost = (real: TalosDialer): TalosDialer =>
    without(
      (method) => method.endsWith("/Bootstrap"),
      () => isHeld,
    )(real);
  return tell({ dialer: lost }, async (world) => {
    await world.client.resource(kinds.cluster).create(demoCluster(cps));
    await world.start();
    await world.until("asked to bootstrap etcd", async () => {
      const record = await world.get(kinds.record);
      return (record?.spec?.["bootstrap"] as { readonly intent?: object } | undefined)?.intent !== undefined;
    });
    world.reroute("10.5.0.1", "10.5.0.2");
    world.reroute("10.5.0.2", "10.5.0.1");
    isHeld = false;
    await world.time.advance(300_000);
    const foundings = (): readonly string[] => world.sent.filter((call) => call.startsWith("Bootstrap"));
    assert.deepEqual(foundings(), []);
    assert.match((await world.condition(kinds.controlPlane, "Ready"))?.message ?? "", /another machine answers|has the UUID/);
    world.reroute("10.5.0.1", undefined);
    world.reroute("10.5.0.2", undefined);
    await world.untilReady();
    assert.deepEqual(foundings(), ["Bootstrap 10.5.0.1"]);
  });
});

test("a cluster whose worker pool lists a machine of another one is told which pool and entry", () =>
  tell({}, async (world) => {
    await world.client.resource(kinds.cluster).create(demoCluster(["10.5.0.1"], ["10.5.0.2"]));
    await world.start();
    await world.untilReady();
    // Which one is older is told by the second.
    await world.time.advance(2_000);
    // Until etcd is bootstrapped whoever disputes an address holds up the whole cluster.
    world.datacenter.machine("10.5.0.3").powerOff();
    const thief = demoCluster(["10.5.0.3"], ["10.5.0.4", "10.5.0.2"], { endpoint: "https://10.5.0.101:6443" });
    await world.client.resource(kinds.cluster).create({ ...thief, metadata: { ...thief.metadata, name: "thief" } });
    const ready = (): Promise<Condition | undefined> => world.condition(kinds.controlPlane, "Ready", "thief");
    await world.until("refused", async () => (await ready())?.reason === "DuplicateAddress");
    assert.match(
      (await ready())?.message ?? "",
      /^TalosWorker\/thief spec\.metalSpec\.machines\[1\]\.address: "10\.5\.0\.2" is also at TalosWorker default\/demo spec\.metalSpec\.machines\[0\]/,
    );
  }));

test("of a cluster in another namespace nothing is named to whoever lists its machine or its endpoint", () =>
  tell({}, async (world) => {
    await world.client.resource(kinds.cluster).create(demoCluster(["10.5.0.1"], ["10.5.0.2"]));
    await world.start();
    await world.untilReady();
    await world.time.advance(2_000);
    await world.client
      .resource({ group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false })
      .create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "strangers" } });
    const ask = async (name: string, cluster: ReturnType<typeof demoCluster>): Promise<string> => {
      await world.client.resource(kinds.cluster).create({ ...cluster, metadata: { name, namespace: "strangers" } });
      const read = async () => world.client.resource<Conditioned>(kinds.controlPlane).tryGet({ namespace: "strangers", name });
      const isRefused = async (): Promise<boolean> =>
        findCondition((await read())?.status?.conditions, "Ready")?.reason === "DuplicateAddress";
      await world.until("refused", isRefused);
      await world.time.advance(30_000);
      const objects = await Promise.all(
        [kinds.cluster, kinds.controlPlane, kinds.worker, kinds.machine].map((kind) =>
          world.client.resource<Conditioned>(kind).list({ namespace: "strangers" }),
        ),
      );
      assert.doesNotMatch(JSON.stringify(objects.flatMap(({ items }) => items.map(({ status }) => status))), /default\/|demo/);
      return findCondition((await read())?.status?.conditions, "Ready")?.message ?? "";
    };
    world.datacenter.machine("10.5.0.3").powerOff();
    assert.match(
      await ask("of-a-worker", demoCluster(["10.5.0.3"], ["10.5.0.2"], { endpoint: "https://10.5.0.101:6443" })),
      /"10\.5\.0\.2" is also at a TalosWorker in another namespace\. /,
    );
    assert.match(
      await ask("of-an-endpoint", demoCluster(["10.5.0.3"], [], { endpoint: "https://10.5.0.1:6443" })),
      /a TalosControlPlane in another namespace/,
    );
  }));
