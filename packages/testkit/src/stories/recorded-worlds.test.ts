// What an earlier release wrote is read as it was meant, and gone on with: `testdata/recorded/README.md`.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { ClusterRecord } from "@talos-operator/api";
import { printRecord, readRecord } from "@talos-operator/operator/testing";
import type { ClusterFacts } from "@talos-operator/operator/testing";
import type { RecordedWorld } from "../world/recorded-world.ts";
import { tellComposition } from "./composition.ts";
import { assertQuiet } from "./quiet.ts";
import { kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const folder = new URL("../../testdata/recorded/", import.meta.url);
const readRecordedWorld = (state: string): RecordedWorld =>
  JSON.parse(readFileSync(new URL(`${state}.json`, folder), "utf8")) as RecordedWorld;

const demo = { namespace: "default", name: "demo" };
const states = readdirSync(folder).flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? []);

const recordIn = ({ objects }: RecordedWorld): ClusterRecord | undefined =>
  objects.entries.find(({ resource }) => resource === "talos-operator.dev/clusterrecords")?.object as ClusterRecord | undefined;

const hardwareAt = ({ datacenter }: RecordedWorld, address: string) => {
  const { hardware, api } = datacenter.machines.find((machine) => machine.hardware.address === address) ?? assert.fail(address);
  return { hardware, api };
};

/** The world of a state with an operator in it that was just started; no machine is there but those that were recorded. */
function goOn(state: string, story: (world: Story, recorded: RecordedWorld) => Promise<void>): Promise<void> {
  const from = readRecordedWorld(state);
  return tell({ from, machines: [] }, async (world) => {
    await world.start();
    await story(world, from);
  });
}

/** What the record in force says now. */
async function factsNow(world: Story): Promise<ClusterFacts> {
  const record = await world.client.resource<ClusterRecord & { readonly metadata: object }>(kinds.record).get(demo);
  return readRecord(record)?.facts ?? assert.fail("nothing can be read from the record");
}

const machineIn = ({ machines }: ClusterFacts, name: string) => machines.find((one) => one.name === name) ?? assert.fail(name);
const intentsOf = ({ intents }: ClusterFacts) => intents.map(({ what, machine, role }) => `${what} ${machine} ${role}`);
const stages = (world: Story) => Object.fromEntries(world.datacenter.machines().map(({ address, state }) => [address, state.stage]));
const readyStatus = async (world: Story, kind: keyof typeof kinds, name?: string) =>
  (await world.condition(kinds[kind], "Ready", name))?.status;
const untilReady = (world: Story, kind: keyof typeof kinds, name?: string, seconds = 900) =>
  world.until(`${kind} ${name ?? "demo"} is Ready`, async () => (await readyStatus(world, kind, name)) === "True", seconds);
const machineObjects = async (world: Story) =>
  (await world.client.resource(kinds.machine).list()).items.map(({ metadata }) => metadata?.name ?? "").toSorted();
const annotations = async (world: Story) => (await world.get(kinds.controlPlane))?.metadata?.annotations ?? {};

/** Ready, on both sides of a quarter of an hour in which no machine was sent anything. */
async function assertSettled(world: Story, kind: keyof typeof kinds = "cluster"): Promise<void> {
  await untilReady(world, kind);
  const sent = world.sent.length;
  await world.time.advance(300_000);
  await assertQuiet(world);
  assert.equal(await readyStatus(world, kind), "True");
  assert.deepEqual(world.sent.slice(sent), []);
}

describe("a record of an earlier release", () => {
  for (const state of states) {
    const recorded = readRecordedWorld(state);
    const record = recordIn(recorded);
    if (record === undefined) continue;
    test(`${state}: tells of each machine who it is, and is written again as it is`, () => {
      const { facts } = readRecord(record) ?? assert.fail("nothing can be read from it");
      for (const { name, address, uuid, macs, spki, role, pool } of facts.machines) {
        const { hardware } = hardwareAt(recorded, address);
        assert.deepEqual([uuid, macs], [hardware.uuid, [hardware.mac]], name);
        assert.equal(spki === undefined, facts.importedAt !== undefined, `${name}: what was taken over was never seen in maintenance mode`);
        assert.equal(pool === undefined, role === "controlplane", name);
      }
      const writer = { identity: "another", fencingToken: "another" };
      assert.deepEqual(printRecord(demo, facts, record, writer), record);
    });
  }

  test("is there in every state but those that tell of its loss, or of a cluster that has none yet", () => {
    const without = states.filter((state) => recordIn(readRecordedWorld(state)) === undefined);
    const lost = ["record-lost", "record-lost-clones", "record-lost-pinned", "record-lost-vendor-uuid"];
    assert.deepEqual(without.toSorted(), ["import-unapproved", "pool-alone", "prefix-record-lost", ...lost]);
  });
});

describe("a settled cluster of an earlier release", () => {
  test("is known by its record in full", () => {
    const recorded = readRecordedWorld("healthy");
    const { facts } = readRecord(recordIn(recorded) ?? assert.fail()) ?? assert.fail();
    assert.deepEqual(
      facts.machines.map(({ name, role, pool, address }) => [name, role, pool, address]),
      [
        ...[1, 2, 3].map((n) => [`demo-10.5.0.${n}`, "controlplane", undefined, `10.5.0.${n}`]),
        ...[4, 5].map((n) => [`demo-10.5.0.${n}`, "worker", "demo", `10.5.0.${n}`]),
      ],
    );
    for (const machine of facts.machines) {
      for (const field of ["platform", "installDisk", "configHash", "contract", "appliedHash", "spki", "configuredAt"] as const)
        assert.notEqual(machine[field], undefined, `${machine.name} ${field}`);
      assert.deepEqual(
        [machine.staged, machine.failed, machine.releasedAt, machine.vouchedAt],
        [undefined, undefined, undefined, undefined],
      );
      assert.equal(machine.memberId !== undefined, machine.role === "controlplane");
    }
    assert.equal(facts.bootstrapDone?.machine, "demo-10.5.0.1");
    assert.deepEqual([facts.intents, facts.importedAt, facts.bundle.wasFound], [[], undefined, false]);
    assert.deepEqual([facts.endpoint, facts.podCIDR, facts.serviceCIDR], ["https://10.5.0.100:6443", ["10.244.0.0/16"], ["10.96.0.0/12"]]);
    assert.deepEqual([facts.talosVersion, facts.kubernetesVersion], ["v1.13.9", "v1.36.3"]);
  });

  for (const state of ["healthy", "clones"])
    test(`${state}: stays as it is, and the record with it`, () =>
      goOn(state, async (world, recorded) => {
        await assertSettled(world);
        assert.deepEqual(world.sent, []);
        assert.equal((await world.get(kinds.record))?.metadata?.resourceVersion, recordIn(recorded)?.metadata.resourceVersion);
      }));

  test("loses the worker that is taken out of its list, and no other machine", () =>
    goOn("healthy", async (world) => {
      const value = { spec: { worker: { metalSpec: { machines: [{ address: "10.5.0.4" }] } } } };
      await world.client.resource(kinds.cluster).patch(demo, { type: "merge", value });
      await world.until("released", async () => !(await machineObjects(world)).includes("demo-10.5.0.5"), 300);
      assert.deepEqual(world.sent, ["Reset 10.5.0.5"]);
      await assertSettled(world);
    }));
});

test("founding: the machine that was written down is asked again to bootstrap etcd, and no other one", () =>
  goOn("founding", async (world, recorded) => {
    const { facts } = readRecord(recordIn(recorded) ?? assert.fail()) ?? assert.fail();
    assert.deepEqual([facts.bootstrapIntent?.machine, facts.bootstrapDone], ["demo-10.5.0.1", undefined]);
    await untilReady(world, "cluster");
    assert.deepEqual(world.sent, ["Bootstrap 10.5.0.1"]);
    assert.equal(world.datacenter.etcdClusters().length, 1);
    assert.equal((await factsNow(world)).bootstrapDone?.machine, "demo-10.5.0.1");
  }));

describe("without its record", () => {
  for (const { state, macs } of [
    { state: "record-lost", macs: false },
    // Where others show the same UUID the hardware addresses were told, too.
    { state: "record-lost-clones", macs: true },
    { state: "record-lost-vendor-uuid", macs: true },
  ])
    test(`${state}: a machine that is off is known by what its TalosMachine says, and goes on when it is back`, () =>
      goOn(state, async (world, recorded) => {
        await world.until("a record", async () => (await world.get(kinds.record)) !== undefined);
        await world.time.advance(60_000);
        const facts = await factsNow(world);
        const off = machineIn(facts, "demo-10.5.0.5");
        const { hardware } = hardwareAt(recorded, "10.5.0.5");
        assert.deepEqual(
          [off.role, off.pool, off.address, off.uuid, off.macs],
          ["worker", "demo", "10.5.0.5", hardware.uuid, macs ? [hardware.mac] : []],
        );
        assert.notEqual(off.configuredAt, undefined);
        assert.equal(facts.bundle.wasFound, true);
        world.datacenter.machine("10.5.0.5").powerOn();
        await assertSettled(world);
        assert.deepEqual(machineIn(await factsNow(world), "demo-10.5.0.5").macs, [hardware.mac]);
        assert.deepEqual(world.sent, []);
      }));

  for (const state of ["record-lost", "record-lost-clones"])
    test(`${state}: another machine at the address of one that is off is not taken for it`, () =>
      goOn(state, async (world) => {
        world.reroute("10.5.0.5", "10.5.0.4");
        await world.time.advance(600_000);
        assert.equal((await world.condition(kinds.machine, "Ready", "demo-10.5.0.5"))?.reason, "IdentityMismatch");
        assert.deepEqual(world.sent, []);
      }));

  test("record-lost-pinned: a machine that waits with the key that its TalosMachine names is sent its configuration", () =>
    goOn("record-lost-pinned", async (world, recorded) => {
      await assertSettled(world);
      assert.deepEqual(world.sent, ["ApplyConfiguration 10.5.0.5"]);
      const { spki } = machineIn(await factsNow(world), "demo-10.5.0.5");
      const { api } = hardwareAt(recorded, "10.5.0.5");
      assert.ok(api.kind === "maintenance");
      assert.equal(spki, world.keys.describeCertificate(api.identity.certificate).spki);
    }));

  test("record-lost-pinned: with another key it is sent nothing without a person's word", () =>
    tell({ from: readRecordedWorld("record-lost-pinned"), machines: [{ address: "10.5.0.9" }] }, async (world) => {
      world.reroute("10.5.0.5", "10.5.0.9");
      await world.start();
      await world.time.advance(900_000);
      assert.deepEqual(world.sent, []);
      assert.equal(await readyStatus(world, "cluster"), "False");
    }));
});

describe("machines in the middle of leaving", () => {
  test("half-removed: those that are being wiped are released when they are, and none is wiped twice", () =>
    goOn("half-removed", async (world, recorded) => {
      const { facts } = readRecord(recordIn(recorded) ?? assert.fail()) ?? assert.fail();
      assert.deepEqual(intentsOf(facts), ["Reset demo-10.5.0.3 controlplane", "Reset demo-10.5.0.5 worker"]);
      assert.notEqual(machineIn(facts, "demo-10.5.0.2").releasedAt, undefined);
      await world.until("released", async () => (await machineObjects(world)).join() === "demo-10.5.0.1,demo-10.5.0.4", 600);
      await assertSettled(world);
      assert.deepEqual(world.sent, []);
      assert.deepEqual(
        world.datacenter.etcdClusters()[0]?.members.map(({ peerUrl }) => new URL(peerUrl).hostname),
        ["10.5.0.1"],
      );
    }));

  test("removal-unheard: a call that was lost is sent again once it can take place no more, and the next leaves after it", () =>
    goOn("removal-unheard", async (world, recorded) => {
      const [intent] = readRecord(recordIn(recorded) ?? assert.fail())?.facts.intents ?? [];
      assert.deepEqual([intent?.what, intent?.machine, intent?.bootIdBefore], ["Reset", "demo-10.5.0.2", undefined]);
      await world.until("one voter", async () => world.datacenter.etcdClusters()[0]?.members.length === 1, 1_800);
      await assertSettled(world);
      assert.deepEqual(world.sent, ["Reset 10.5.0.2", "Reset 10.5.0.3"]);
    }));

  test("member-half-removed: the member is removed once, and its successor joins after it", () =>
    goOn("member-half-removed", async (world, recorded) => {
      const { facts } = readRecord(recordIn(recorded) ?? assert.fail()) ?? assert.fail();
      assert.deepEqual(intentsOf(facts), ["RemoveMember demo-10.5.0.3 controlplane"]);
      assert.equal(facts.intents[0]?.memberId, machineIn(facts, "demo-10.5.0.3").memberId);
      await untilReady(world, "cluster");
      assert.deepEqual(world.sent, ["EtcdRemoveMemberByID 10.5.0.1", "ApplyConfiguration 10.5.0.6"]);
      // It was not wiped: when it is back, it is.
      assert.ok((await machineObjects(world)).includes("demo-10.5.0.3"));
      world.datacenter.machine("10.5.0.3").powerOn();
      await world.until("released", async () => !(await machineObjects(world)).includes("demo-10.5.0.3"), 900);
      assert.deepEqual(world.sent.slice(2), ["Reset 10.5.0.3"]);
    }));

  test("leaving: what is left of a cluster is wiped, each machine once, and nothing of it stays", () =>
    goOn("leaving", async (world, recorded) => {
      const { facts } = readRecord(recordIn(recorded) ?? assert.fail()) ?? assert.fail();
      assert.deepEqual(intentsOf(facts), ["Reset demo-10.5.0.4 worker", "Reset demo-10.5.0.5 worker"]);
      await world.until("gone", async () => (await world.get(kinds.cluster)) === undefined, 600);
      await world.time.advance(60_000);
      assert.deepEqual(world.sent, ["Reset 10.5.0.1", "Reset 10.5.0.2", "Reset 10.5.0.3"]);
      assert.ok(Object.values(stages(world)).every((stage) => stage === "maintenance"));
      for (const kind of [kinds.record, kinds.machine, kinds.controlPlane, kinds.worker, kinds.secret])
        assert.deepEqual((await world.client.resource(kind).list({ namespace: "default" })).items, [], kind.kind);
    }));
});

const twice = (address: string): readonly string[] => [`ApplyConfiguration ${address}`, `ApplyConfiguration ${address}`];

describe("settings on their way", () => {
  test("config-tried: what a worker tries is looked at and kept, once it may have been sent no more, and the next follows", () =>
    goOn("config-tried", async (world, recorded) => {
      const [intent] = readRecord(recordIn(recorded) ?? assert.fail())?.facts.intents ?? [];
      assert.deepEqual([intent?.what, intent?.machine, intent?.applyMode], ["ApplyConfig", "demo-10.5.0.4", "try"]);
      await world.until(
        "rolled out",
        async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason === "UpToDate",
        1_800,
      );
      assert.deepEqual(world.sent, [...twice("10.5.0.4"), ...twice("10.5.0.5")]);
      await assertSettled(world);
    }));

  test("config-untold: settings that ended with a boot are sent again", () =>
    goOn("config-untold", async (world, recorded) => {
      const { facts } = readRecord(recordIn(recorded) ?? assert.fail()) ?? assert.fail();
      assert.equal(machineIn(facts, "demo-10.5.0.4").failed?.tries, 1);
      await world.until(
        "rolled out",
        async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason === "UpToDate",
        1_800,
      );
      assert.deepEqual(world.sent, [...twice("10.5.0.4"), ...twice("10.5.0.5")]);
    }));

  test("config-staged: the boot that was ordered ends it on that machine, and the others follow one by one", () =>
    goOn("config-staged", async (world, recorded) => {
      const { facts } = readRecord(recordIn(recorded) ?? assert.fail()) ?? assert.fail();
      assert.deepEqual(intentsOf(facts), ["Reboot demo-10.5.0.1 controlplane"]);
      const { staged } = machineIn(facts, "demo-10.5.0.1");
      assert.equal(staged?.bootId, facts.intents[0]?.bootIdBefore);
      assert.equal(staged?.configHash, facts.intents[0]?.configHash);
      await world.until(
        "rolled out",
        async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason === "UpToDate",
        1_800,
      );
      assert.deepEqual(
        world.sent,
        ["10.5.0.2", "10.5.0.3"].flatMap((address) => [`ApplyConfiguration ${address}`, `Reboot ${address}`]),
      );
      assert.equal(machineIn(await factsNow(world), "demo-10.5.0.1").staged, undefined);
      await assertSettled(world);
    }));

  for (const [state, reason] of [
    ["config-refused", "ConfigRejected"],
    ["config-reverted", "RolloutStopped"],
    ["config-silent", "RolloutStopped"],
  ] as const)
    test(`${state}: is not sent again, until the settings change`, () =>
      goOn(state, async (world, recorded) => {
        const { facts } = readRecord(recordIn(recorded) ?? assert.fail()) ?? assert.fail();
        const { failed, configHash } = machineIn(facts, "demo-10.5.0.4");
        assert.ok(failed !== undefined && failed.why !== "" && failed.tries === undefined);
        assert.notEqual(failed.configHash, configHash);
        await assertSettled(world);
        assert.deepEqual(world.sent, []);
        assert.equal((await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason, reason);
        assert.deepEqual(machineIn(await factsNow(world), "demo-10.5.0.4").failed, failed);
        const machineSpec = { configPatches: [{ machine: { nodeLabels: { "example.org/rack": "r2" } } }] };
        const value = { spec: { worker: { metalSpec: { machineSpec } } } };
        await world.client.resource(kinds.cluster).patch(demo, { type: "merge", value });
        await world.until(
          "rolled out",
          async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason === "UpToDate",
          900,
        );
        assert.deepEqual(world.sent, [...twice("10.5.0.4"), ...twice("10.5.0.5")]);
        assert.equal(machineIn(await factsNow(world), "demo-10.5.0.4").failed, undefined);
      }));

  test("config-silent: is sent again on a person's word for that machine", () =>
    goOn("config-silent", async (world) => {
      await untilReady(world, "cluster");
      await world.annotate(kinds.controlPlane, "talos-operator.dev/retry-config", "demo-10.5.0.4");
      await world.until(
        "rolled out",
        async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason === "UpToDate",
        900,
      );
      assert.deepEqual(world.sent, [...twice("10.5.0.4"), ...twice("10.5.0.5")]);
      assert.equal((await annotations(world))["talos-operator.dev/retry-config"], undefined);
    }));
});

describe("a cluster of another operator", () => {
  test("import-unapproved: is left alone, and taken over by the word that an earlier release asked for", () =>
    goOn("import-unapproved", async (world, recorded) => {
      const asked = recorded.objects.entries.find(({ resource }) => resource.endsWith("/taloscontrolplanes"))?.object ?? {};
      const [, word = assert.fail("no word was asked for")] = /import-approve: ([0-9a-f]{10})/.exec(JSON.stringify(asked)) ?? [];
      await world.time.advance(300_000);
      assert.equal(await world.get(kinds.record), undefined);
      assert.equal((await world.condition(kinds.controlPlane, "Imported"))?.reason, "ApprovalRequired");
      await world.annotate(kinds.controlPlane, "talos-operator.dev/import-approve", word);
      await untilReady(world, "controlPlane");
      await assertSettled(world, "controlPlane");
      assert.deepEqual(world.sent, []);
      assert.notEqual((await factsNow(world)).importedAt, undefined);
    }));

  test("imported: what was approved stays as it is", () =>
    goOn("imported", async (world, recorded) => {
      const { facts } = readRecord(recordIn(recorded) ?? assert.fail()) ?? assert.fail();
      assert.deepEqual([facts.importedAt === undefined, facts.bundle.wasFound], [false, true]);
      await assertSettled(world, "controlPlane");
      assert.equal((await world.condition(kinds.controlPlane, "Imported"))?.status, "True");
      assert.equal((await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason, "RenderedOtherwise");
      assert.deepEqual(world.sent, []);
    }));
});

describe("names that begin or end as others do", () => {
  test("prefix-removed: a-1 is released, and aa-1 stays with its pool", () =>
    goOn("prefix-removed", async (world, recorded) => {
      const { facts } = readRecord(recordIn(recorded) ?? assert.fail()) ?? assert.fail();
      assert.deepEqual(intentsOf(facts), ["Reset a-1 worker"]);
      assert.deepEqual(facts.machines.map(({ name, pool }) => `${name} ${pool ?? ""}`).toSorted(), [
        "a-1 a",
        "a-10.5.0.2 a",
        "aa-1 aa",
        "aa-10.5.0.3 aa",
        "demo-10.5.0.1 ",
      ]);
      await world.until("released", async () => !(await machineObjects(world)).includes("a-1"), 300);
      await assertSettled(world, "controlPlane");
      assert.deepEqual(await machineObjects(world), ["a-10.5.0.2", "aa-1", "aa-10.5.0.3", "demo-10.5.0.1"]);
      for (const pool of ["a", "aa"]) assert.equal(await readyStatus(world, "worker", pool), "True");
      assert.deepEqual(world.sent, []);
    }));

  test("prefix-record-lost: each machine is written down for its own pool, and goes with its own entry", () =>
    goOn("prefix-record-lost", async (world, recorded) => {
      await world.until("a record", async () => (await world.get(kinds.record)) !== undefined);
      await world.time.advance(60_000);
      const facts = await factsNow(world);
      for (const [name, pool, address] of [
        ["a-1", "a", "10.5.0.4"],
        ["aa-1", "aa", "10.5.0.5"],
        ["a-10.5.0.2", "a", "10.5.0.2"],
        ["aa-10.5.0.3", "aa", "10.5.0.3"],
      ] as const) {
        const machine = machineIn(facts, name);
        assert.deepEqual([machine.pool, machine.address, machine.uuid], [pool, address, hardwareAt(recorded, address).hardware.uuid]);
      }
      world.datacenter.machine("10.5.0.5").powerOn();
      await untilReady(world, "worker", "aa");
      await world.client.resource(kinds.machine).delete({ namespace: "default", name: "a-1" });
      await world.until("released", async () => !(await machineObjects(world)).includes("a-1"), 300);
      assert.deepEqual(world.sent, ["Reset 10.5.0.4"]);
      await assertSettled(world, "controlPlane");
    }));
});

test("pool-alone: waits for its control plane, and becomes a cluster with it", () =>
  goOn("pool-alone", async (world) => {
    await assertQuiet(world);
    assert.equal(world.sent.length, 0);
    const machines = [{ address: "10.5.0.1" }];
    const spec = { version: "v1.13.9", kubeVersion: "v1.36.3", mode: "metal", endpoint: "https://10.5.0.100:6443" };
    const metalSpec = { machines, machineSpec: { installDisk: "/dev/sda" } };
    await world.client.resource(kinds.controlPlane).create({ metadata: demo, spec: { ...spec, metalSpec } } as object);
    await untilReady(world, "controlPlane");
    await untilReady(world, "worker", "pool");
    // Whether the worker is configured before or after the bootstrap is told elsewhere.
    assert.deepEqual(
      world.sent.filter((call) => !call.endsWith(" 10.5.0.4")),
      ["ApplyConfiguration 10.5.0.1", "Bootstrap 10.5.0.1"],
    );
    assert.deepEqual(
      world.sent.filter((call) => call.endsWith(" 10.5.0.4")),
      ["ApplyConfiguration 10.5.0.4"],
    );
  }));

describe("a KubernetesCluster of an earlier release", () => {
  const names = ["demo-cp-0", "demo-workers-0", "demo-workers-1"];

  test("composed: stays as it is", () =>
    tellComposition({ from: readRecordedWorld("composed"), machines: [] }, async (world) => {
      await world.start();
      await world.time.advance(300_000);
      await assertQuiet(world);
      assert.equal(await readyStatus(world, "kubernetesCluster"), "True");
      assert.deepEqual(world.sent, []);
      assert.deepEqual(await world.machineNames(), names);
    }));

  test("composed-shrinking: the worker that is being wiped is released, and its Machine goes after it", () =>
    tellComposition({ from: readRecordedWorld("composed-shrinking"), machines: [] }, async (world) => {
      await world.start();
      await world.until("gone", async () => (await world.machineNames()).join() === names.slice(0, 2).join(), 600);
      await world.untilComposed();
      assert.deepEqual(world.sent, []);
      assert.deepEqual([...world.files.texts.keys()].toSorted(), ["demo/.owner", "demo/demo-cp-0.yaml", "demo/demo-workers-0.yaml"]);
    }));

  test("composed-leaving: goes to its end, each machine wiped before its Machine is let go", () =>
    tellComposition({ from: readRecordedWorld("composed-leaving"), machines: [] }, async (world) => {
      await world.start();
      await world.until("gone", async () => (await world.cluster()) === undefined, 1_200);
      await world.until("no Machine", async () => (await world.machineNames()).length === 0, 120);
      assert.equal(world.sent.filter((call) => call === "Reset 10.5.0.1").length, 1);
      assert.ok(world.datacenter.machines().every(({ state }) => state.stage === "maintenance" && state.power === "off"));
      assert.equal(await world.get(kinds.record), undefined);
    }));
});
