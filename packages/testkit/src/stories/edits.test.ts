import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Condition } from "@talos-operator/api";
import type { ResourceType } from "@talos-operator/kube-runtime";
import { apply, assertQuiet } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
const demo = { namespace: "default", name: "demo" };

async function ready(world: Story, cluster: unknown = demoCluster(cps, ["10.5.0.4"])): Promise<void> {
  await apply(world, kinds.cluster, cluster);
  await world.start();
  await world.untilReady();
  await world.time.advance(5_000);
}

function edit(world: Story, spec: unknown): Promise<unknown> {
  return world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec } });
}

const pool = (...addresses: string[]): object => ({ metalSpec: { machines: addresses.map((address) => ({ address })) } });

/** A version that is asked for is pending, and nobody calls the object settled, or unready. */
async function assertPending(world: Story, kind: Parameters<Story["condition"]>[0], says: RegExp): Promise<void> {
  const told = async (type: string): Promise<Condition | undefined> => world.condition(kind, type);
  assert.match((await told("UpgradePending"))?.message ?? "", says, `UpgradePending of ${kind.kind}`);
  assert.equal((await told("Ready"))?.status, "True", `Ready of ${kind.kind}`);
  assert.equal((await told("Progressing"))?.reason, "UpgradePending", `Progressing of ${kind.kind}`);
}

describe("an edit of a cluster that runs", () => {
  for (const { what, spec, says } of [
    {
      what: "Talos version",
      spec: { controlPlane: { version: "v1.13.8" } },
      says: /demo-10\.5\.0\.1, demo-10\.5\.0\.2, demo-10\.5\.0\.3 run Talos v1\.13\.9, the spec asks for v1\.13\.8 \(a downgrade\)\. A downgrade needs/,
    },
    {
      what: "patched kubelet",
      spec: {
        controlPlane: {
          metalSpec: { machineSpec: { configPatches: [{ machine: { kubelet: { image: "ghcr.io/siderolabs/kubelet:v1.36.1" } } }] } },
        },
      },
      says: /demo-10\.5\.0\.1, demo-10\.5\.0\.2, demo-10\.5\.0\.3: kubelet v1\.36\.3 runs, and a patch or written config asks for v1\.36\.1\. Kubernetes keeps/,
    },
    {
      what: "Kubernetes version",
      spec: { controlPlane: { kubeVersion: "v1.36.2" } },
      says: /Kubernetes runs v1\.36\.3, the spec asks for v1\.36\.2/,
    },
    {
      what: "installer image",
      spec: { controlPlane: { metalSpec: { machineSpec: { image: "factory.talos.dev/installer/376567988" } } } },
      says: /demo-10\.5\.0\.1, demo-10\.5\.0\.2, demo-10\.5\.0\.3: installed from ghcr\.io\/siderolabs\/installer:v1\.13\.9, the spec asks for factory\.talos\.dev\/installer\/376567988:v1\.13\.9\. Running/,
    },
  ])
    test(`of its ${what} is reported and sends nothing; set back, it is as before`, () =>
      tell({}, async (world) => {
        await ready(world);
        const sent = world.sent.length;
        await edit(world, spec);
        await world.until("UpgradePending", async () => (await world.condition(kinds.controlPlane, "UpgradePending"))?.status === "True");
        assert.match((await world.condition(kinds.controlPlane, "UpgradePending"))?.message ?? "", says);
        await world.time.advance(60_000);
        await assertQuiet(world);
        assert.equal(world.sent.length, sent);
        for (const kind of [kinds.controlPlane, kinds.cluster]) await assertPending(world, kind, says);
        await edit(world, {
          controlPlane: { ...demoCluster(cps).spec?.controlPlane, metalSpec: { machineSpec: { image: null, configPatches: null } } },
        });
        await world.until("back", async () => (await world.condition(kinds.controlPlane, "UpgradePending")) === undefined);
      }));

  test("of what only an installation reads is told, and sends nothing; set back, it is as before", () =>
    tell({}, async (world) => {
      await ready(world);
      const sent = world.sent.length;
      await edit(world, { controlPlane: { metalSpec: { machineSpec: { wipe: true, installDisk: "/dev/sdb" } } } });
      const told = (): Promise<Condition | undefined> => world.condition(kinds.controlPlane, "ConfigUpToDate");
      await world.until("told", async () => (await told())?.reason === "InstalledOtherwise", 90);
      assert.match(
        (await told())?.message ?? "",
        /demo-10\.5\.0\.3: installDisk \/dev\/sdb \(installed on \/dev\/sda\) and wipe true \(installed with false\)/,
      );
      assert.equal((await told())?.status, "True");
      assert.equal((await world.condition(kinds.cluster, "Ready"))?.status, "True");
      await world.time.advance(60_000);
      await assertQuiet(world);
      assert.equal(world.sent.length, sent);
      await edit(world, { controlPlane: { metalSpec: { machineSpec: { wipe: null, installDisk: "/dev/sda" } } } });
      await world.until("back", async () => (await told())?.reason === "UpToDate", 90);
    }));

  test("of its network plugin is reported, and a machine that joins later gets the plugin that the cluster was made with", () =>
    tell({}, async (world) => {
      const late = world.datacenter.machine("10.5.0.3");
      late.powerOff();
      await apply(world, kinds.cluster, demoCluster(cps));
      await world.start();
      await world.until("founded", async () => (await world.condition(kinds.controlPlane, "Bootstrapped"))?.status === "True");
      await edit(world, { controlPlane: { cni: { name: "none" } } });
      await world.until("said", async () =>
        /spec\.cni/.test((await world.condition(kinds.controlPlane, "FieldNotSupported"))?.message ?? ""),
      );
      late.powerOn();
      await world.untilReady();
      const pluginOf = (address: string): string | undefined =>
        /\n\s+cni:\n\s+name: (\w+)/.exec(world.datacenter.machine(address).state.config.active ?? "")?.[1];
      assert.ok((late.state.config.active ?? "").includes("podSubnets"));
      assert.equal(pluginOf("10.5.0.3"), pluginOf("10.5.0.1"));
      assert.match((await world.condition(kinds.controlPlane, "FieldNotSupported"))?.message ?? "", /kept as it was made: spec\.cni/);
    }));

  test("of a worker's version is reported and sends nothing", () =>
    tell({}, async (world) => {
      await ready(world);
      const sent = world.sent.length;
      await edit(world, { worker: { version: "v1.13.8" } });
      await world.time.advance(60_000);
      const says = /runs? Talos v1\.13\.9, the spec asks for v1\.13\.8 \(a downgrade\)/;
      for (const kind of [kinds.controlPlane, kinds.worker, kinds.cluster]) await assertPending(world, kind, says);
      await assertQuiet(world);
      assert.equal(world.sent.length, sent);
    }));

  for (const { what, over, reason, says } of [
    { what: "even control planes", over: pool("10.5.0.1", "10.5.0.2"), reason: "SpecInvalid", says: /List 1 or 3/ },
    { what: "one control plane more", over: pool(...cps, "10.5.0.5"), reason: "SpecInvalid", says: /List 3 or 5/ },
    {
      what: "an address of the pod network",
      over: pool(...cps, "10.5.0.5", "10.244.0.9"),
      reason: "SpecInvalid",
      says: /spec\.controlPlane\.metalSpec\.machines\[4\]\.address/,
    },
    {
      what: "other pod networks",
      over: { podCIDR: ["10.77.0.0/16"] },
      reason: "FixedProperty",
      says: /spec\.controlPlane\.podCIDR: .*10\.244\.0\.0\/16, and this cannot change\. Set it back/,
    },
    {
      what: "other service networks, and two control planes more",
      over: { serviceCIDR: ["10.77.0.0/16"], ...pool(...cps, "10.5.0.5", "10.5.0.6") },
      reason: "FixedProperty",
      says: /spec\.controlPlane\.serviceCIDR: .*10\.96\.0\.0\/12/,
    },
    { what: "an unsupported version", over: { version: "v1.4.0" }, reason: "SpecInvalid", says: /v1\.4\.0/ },
  ])
    test(`to ${what} is refused by name within 5 s, sends nothing, loses nothing, and what runs stays ready`, () =>
      tell({}, async (world) => {
        await ready(world);
        const [sent, secret] = [world.sent.length, await world.get(kinds.secret, "demo-bundle-1")];
        await edit(world, { controlPlane: over });
        const told = (type: string): Promise<Condition | undefined> => world.condition(kinds.cluster, type);
        await world.until("refused", async () => (await told("EditRefused"))?.reason === reason, 5);
        assert.match((await told("EditRefused"))?.message ?? "", says);
        await world.time.advance(60_000);
        for (const known of ["Ready", "Bootstrapped", "EtcdHealthy", "Stalled", "EditRefused"])
          assert.equal((await told(known))?.status, "True", known);
        assert.equal((await told("Progressing"))?.reason, "Blocked");
        for (const kind of [kinds.controlPlane, kinds.worker]) assert.equal((await world.condition(kind, "Ready"))?.status, "True");
        await assertQuiet(world);
        assert.equal(world.sent.length, sent);
        assert.deepEqual(await world.get(kinds.secret, "demo-bundle-1"), secret);
      }));
});

test("a release that nobody knows here is said within 5 s, and used as it is asked for", () =>
  tell({}, async (world) => {
    const machine = world.datacenter.machine("10.5.0.1");
    machine.powerOff();
    await apply(world, kinds.cluster, demoCluster(["10.5.0.1"], [], { version: "v1.13.99" }));
    await world.start();
    const told = (type: string): Promise<Condition | undefined> => world.condition(kinds.cluster, type);
    await world.until("said", async () => (await told("ReleaseUnknown"))?.reason === "NewerThanKnown", 5);
    assert.match((await told("ReleaseUnknown"))?.message ?? "", /Talos v1\.13\.99 is not known/);
    machine.powerOn();
    await world.untilReady();
    await world.until("known", async () => (await told("ReleaseUnknown")) === undefined, 30);
  }));

test("an edit of a worker pool that is refused leaves the pool and its cluster ready, and set back nothing is said of it", () =>
  tell({}, async (world) => {
    await ready(world);
    const sent = world.sent.length;
    await edit(world, { worker: pool("10.5.0.4", "10.244.0.9") });
    const told = (kind: ResourceType, type: string): Promise<Condition | undefined> => world.condition(kind, type);
    await world.until("refused", async () => (await told(kinds.cluster, "EditRefused")) !== undefined, 5);
    assert.match((await told(kinds.cluster, "EditRefused"))?.message ?? "", /spec\.worker\.metalSpec\.machines\[1\]\.address: /);
    await world.time.advance(60_000);
    assert.equal((await told(kinds.cluster, "Ready"))?.status, "True");
    assert.equal(world.sent.length, sent);
    await edit(world, { worker: pool("10.5.0.4") });
    await world.until("back", async () => (await told(kinds.cluster, "Progressing"))?.reason === "Settled");
    assert.equal(await told(kinds.cluster, "EditRefused"), undefined);
  }));

test("an edit of a pool of its own that is refused leaves it ready", () =>
  tell({}, async (world) => {
    await ready(world, demoCluster(cps));
    const { spec } = demoCluster(cps, ["10.5.0.4"]);
    const worker = { apiVersion: "talos.alperen.cloud/v1alpha1", kind: "TalosWorker", metadata: { namespace: "default", name: "pool" } };
    await world.client.resource(kinds.worker).create({ ...worker, spec: { ...spec?.worker, controlPlaneRef: { name: "demo" } } } as object);
    const told = (type: string): Promise<Condition | undefined> => world.condition(kinds.worker, type, "pool");
    await world.until("ready", async () => (await told("Ready"))?.status === "True", 300);
    const value = { spec: pool("10.5.0.4", "10.244.0.9") };
    await world.client.resource(kinds.worker).patch({ namespace: "default", name: "pool" }, { type: "merge", value });
    await world.until("refused", async () => (await told("EditRefused"))?.reason === "SpecInvalid", 5);
    await world.time.advance(60_000);
    assert.deepEqual([(await told("Ready"))?.status, (await told("Stalled"))?.status], ["True", "True"]);
  }));

test("a control plane of its own whose list became even keeps all of its machines, is ready, and says of none that it leaves", () =>
  tell({}, async (world) => {
    const controlPlane = { apiVersion: "talos.alperen.cloud/v1alpha1", kind: "TalosControlPlane", metadata: demo };
    await world.client.resource(kinds.controlPlane).create({ ...controlPlane, spec: demoCluster(cps).spec?.controlPlane } as object);
    await world.start();
    const told = (type: string): Promise<Condition | undefined> => world.condition(kinds.controlPlane, type);
    await world.until("ready", async () => (await told("Ready"))?.status === "True", 300);
    const value = { spec: pool("10.5.0.1", "10.5.0.2") };
    await world.client.resource(kinds.controlPlane).patch(demo, { type: "merge", value });
    await world.until("refused", async () => (await told("EditRefused"))?.reason === "SpecInvalid", 5);
    await world.time.advance(120_000);
    assert.deepEqual([(await told("Ready"))?.status, await told("Removing")], ["True", undefined]);
    assert.deepEqual(
      world.sent.filter((call) => call.startsWith("Reset")),
      [],
    );
  }));

test("a worker pool whose list was emptied keeps its machines until a person confirms their wipe; the word acts once", () =>
  tell({}, async (world) => {
    const word = "talos-operator.dev/confirm-reset";
    await ready(world, demoCluster(cps, ["10.5.0.4", "10.5.0.5"]));
    const sent = world.sent.length;
    await edit(world, { worker: pool() });
    const removing = (): Promise<Condition | undefined> => world.condition(kinds.worker, "Removing");
    await world.until("asks", async () => (await removing())?.reason === "ConfirmationRequired", 5);
    assert.match((await removing())?.message ?? "", /destroys their data: demo-10\.5\.0\.4, demo-10\.5\.0\.5\..*confirm-reset: demo\.$/);
    assert.ok(((await removing())?.message ?? "").length <= 300);
    await world.time.advance(20 * 60_000);
    assert.deepEqual(world.sent.slice(sent), []);
    for (const known of ["Ready", "Stalled"]) assert.equal((await world.condition(kinds.cluster, known))?.status, "True", known);

    await edit(world, { worker: pool("10.5.0.4", "10.5.0.5") });
    await world.until("listed again", async () => (await world.condition(kinds.cluster, "Progressing"))?.reason === "Settled");
    assert.deepEqual(world.sent.slice(sent), []);

    await edit(world, { worker: pool() });
    await world.until("asks again", async () => (await removing())?.reason === "ConfirmationRequired", 5);
    await world.annotate(kinds.worker, word, "demo");
    await world.until("wiped", async () => (await world.get(kinds.machine, "demo-10.5.0.5")) === undefined, 900);
    const wiped = world.sent.slice(sent).filter((call) => call.startsWith("Reset"));
    assert.deepEqual(wiped.toSorted(), ["Reset 10.5.0.4", "Reset 10.5.0.5"]);
    await world.until("off", async () => (await world.get(kinds.worker))?.metadata?.annotations?.[word] === undefined, 60);
  }));

test("a worker that is listed later joins; when it leaves the list it is wiped and released", () =>
  tell({}, async (world) => {
    await ready(world);
    await edit(world, { worker: pool("10.5.0.4", "10.5.0.5") });
    await world.until("joined", async () => (await world.condition(kinds.machine, "Ready", "demo-10.5.0.5"))?.status === "True");
    await world.untilReady();
    assert.equal(world.sent.filter((call) => call === "ApplyConfiguration 10.5.0.5").length, 1);
    const before = world.sent.length;
    await edit(world, { worker: pool("10.5.0.4") });
    await world.until("let go", async () => (await world.get(kinds.machine, "demo-10.5.0.5")) === undefined);
    assert.deepEqual(world.sent.slice(before), ["Reset 10.5.0.5"]);
    assert.equal(world.datacenter.machine("10.5.0.5").state.stage, "maintenance");
    await world.untilReady();
    // Events are posted at a measured pace.
    await world.time.advance(120_000);
    await assertQuiet(world);
  }));

describe("fields without effect in this release", () => {
  for (const { what, over, says } of [
    { what: "replicas", over: { replicas: 3 }, says: /spec\.replicas/ },
    { what: "storageClassName", over: { storageClassName: "fast" }, says: /spec\.storageClassName/ },
    {
      what: "pxeClientSpec",
      over: {
        metalSpec: { machines: [{ address: "10.5.0.1", pxeClientSpec: { macAddress: "02:00:00:00:00:01", cpuArchitecture: "amd64" } }] },
      },
      says: /machines\[0\]\.pxeClientSpec/,
    },
    { what: "cni.urls without custom", over: { cni: { name: "flannel", urls: ["https://a/b.yaml"] } }, says: /spec\.cni\.urls/ },
  ])
    test(`${what} is named in FieldNotSupported, and the cluster is made`, () =>
      tell({}, async (world) => {
        await apply(world, kinds.controlPlane, {
          apiVersion: "talos.alperen.cloud/v1alpha1",
          kind: "TalosControlPlane",
          metadata: demo,
          spec: { ...demoCluster(["10.5.0.1"]).spec?.controlPlane, ...over },
        });
        await world.start();
        await world.until("Ready", async () => (await world.condition(kinds.controlPlane, "Ready"))?.status === "True");
        const condition = await world.condition(kinds.controlPlane, "FieldNotSupported");
        assert.equal(condition?.status, "True");
        assert.match(condition.message, says);
      }));
});

describe("the annotation reconcile-mode", () => {
  for (const word of ["disable", "Disable", "DISABLE", "dryrun", "DryRun"])
    test(`${word} before the first pass: words in the status, no finalizer, nothing made, nothing sent`, () =>
      tell({}, async (world) => {
        const spec = demoCluster(["10.5.0.1"]).spec?.controlPlane;
        const metadata = { ...demo, annotations: { "talos.alperen.cloud/reconcile-mode": word } };
        await apply(world, kinds.controlPlane, { apiVersion: "talos.alperen.cloud/v1alpha1", kind: "TalosControlPlane", metadata, spec });
        await world.start();
        await world.until("Paused", async () => (await world.condition(kinds.controlPlane, "Paused"))?.status === "True");
        const isTried = word.toLowerCase() === "dryrun";
        if (isTried) await world.until("planned", async () => (await world.condition(kinds.controlPlane, "DryRun"))?.status === "True");
        await world.time.advance(2_000);
        await assertQuiet(world);
        const object = await world.get(kinds.controlPlane);
        assert.deepEqual(
          object?.status?.conditions?.map(({ type }) => type),
          isTried ? ["Paused", "DryRun"] : ["Paused"],
        );
        assert.deepEqual(object?.metadata?.finalizers ?? [], []);
        assert.deepEqual(
          world.writes.filter((write) => !write.includes("/status") && !write.includes("/events")),
          [],
        );
        assert.equal(await world.get(kinds.record), undefined);
        assert.deepEqual(world.sent, []);
      }));

  test("with the prefix of the other annotations pauses nothing, and is told on whatever has it", () =>
    tell({}, async (world) => {
      await ready(world, demoCluster(["10.5.0.1"], ["10.5.0.2"]));
      const wrong = "talos-operator.dev/reconcile-mode";
      const said = async (type: ResourceType): Promise<string | undefined> => (await world.condition(type, "FieldNotSupported"))?.message;
      const want = `Annotation ${wrong} is not read: write talos.alperen.cloud/reconcile-mode.`;
      for (const type of [kinds.worker, kinds.controlPlane, kinds.cluster]) {
        await world.annotate(type, wrong, "disable");
        await world.until(`told on ${type.kind}`, async () => (await said(type))?.includes(want) === true, 60);
        assert.equal(await world.condition(type, "Paused"), undefined);
        await world.annotate(type, wrong, undefined);
        await world.until("and not any more", async () => (await said(type)) === undefined, 60);
      }
    }));

  for (const word of ["reconcile", "Reconcile", ""])
    test(`"${word}" goes on as without it`, () =>
      tell({}, async (world) => {
        const cluster = demoCluster(["10.5.0.1"]);
        await ready(world, { ...cluster, metadata: { ...cluster.metadata, annotations: { "talos.alperen.cloud/reconcile-mode": word } } });
      }));

  test("an unknown word goes on as without it, as published, and a condition names the word", () =>
    tell({}, async (world) => {
      const cluster = demoCluster(["10.5.0.1"]);
      await ready(world, {
        ...cluster,
        metadata: { ...cluster.metadata, annotations: { "talos.alperen.cloud/reconcile-mode": "sleepy" } },
      });
      const said = (await Promise.all([kinds.cluster, kinds.controlPlane].map((type) => world.get(type)))).flatMap(
        (object) => object?.status?.conditions ?? [],
      );
      assert.ok(
        said.some((condition) => condition.message.includes("sleepy")),
        "nobody named the word",
      );
      await assertQuiet(world);
    }));

  test("an unknown word wipes nothing: a deletion waits for the word to be corrected, and then goes on", () =>
    tell({}, async (world) => {
      await ready(world, demoCluster(["10.5.0.1"]));
      await world.annotate(kinds.cluster, "talos.alperen.cloud/reconcile-mode", "sleepy");
      await world.time.advance(5_000);
      const sent = world.sent.length;
      await world.client.resource(kinds.cluster).delete(demo);
      await world.until("asks", async () => (await world.condition(kinds.controlPlane, "Deleting"))?.reason === "ConfirmationRequired");
      assert.match((await world.condition(kinds.controlPlane, "Deleting"))?.message ?? "", /"sleepy".*Correct or remove/);
      await world.time.advance(60_000);
      await assertQuiet(world);
      assert.equal(world.sent.length, sent);
      await world.annotate(kinds.cluster, "talos.alperen.cloud/reconcile-mode", undefined);
      await world.until("gone", async () => (await world.get(kinds.cluster)) === undefined);
      assert.deepEqual(world.sent.slice(sent), ["Reset 10.5.0.1"]);
    }));
});
