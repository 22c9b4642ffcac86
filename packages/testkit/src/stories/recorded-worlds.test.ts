// What an earlier version wrote is read as it was meant, and gone on with: `testdata/recorded/README.md`.
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

const recordIn = ({ objects }: RecordedWorld): ClusterRecord => {
  const found = objects.entries.find(({ resource }) => resource === "talos-operator.dev/clusterrecords")?.object;
  return (found ?? assert.fail("no record")) as object as ClusterRecord;
};
const factsIn = (recorded: RecordedWorld): ClusterFacts =>
  readRecord(recordIn(recorded))?.facts ?? assert.fail("nothing can be read from it");

const hardwareAt = ({ datacenter }: RecordedWorld, address: string) =>
  datacenter.machines.find(({ hardware }) => hardware.address === address)?.hardware ?? assert.fail(address);

/** The world of a state with an operator in it that was just started; no machine is there but those that were recorded. */
function goOn(state: string, story: (world: Story, recorded: RecordedWorld) => Promise<void>): Promise<void> {
  const from = readRecordedWorld(state);
  return tell({ from, machines: [] }, async (world) => {
    await world.start();
    await story(world, from);
  });
}

const intentsOf = ({ intents }: ClusterFacts) => intents.map(({ what, machine, role }) => `${what} ${machine} ${role}`);
const untilReady = (world: Story) =>
  world.until("Ready", async () => (await world.condition(kinds.cluster, "Ready"))?.status === "True", 900);
const machineObjects = async (world: Story) =>
  (await world.client.resource(kinds.machine).list()).items.map(({ metadata }) => metadata?.name ?? "");

/** Ready, on both sides of a quarter of an hour in which no machine was sent anything. */
async function assertSettled(world: Story): Promise<void> {
  await untilReady(world);
  const sent = world.sent.length;
  await world.time.advance(300_000);
  await assertQuiet(world);
  assert.equal((await world.condition(kinds.cluster, "Ready"))?.status, "True");
  assert.deepEqual(world.sent.slice(sent), []);
}

describe("a record of an earlier version", () => {
  for (const state of states) {
    test(`${state}: tells of each machine who it is, and is written again as it is`, () => {
      const recorded = readRecordedWorld(state);
      const facts = factsIn(recorded);
      for (const { name, address, uuid, macs, spki, role, pool } of facts.machines) {
        const hardware = hardwareAt(recorded, address);
        assert.deepEqual([uuid, macs], [hardware.uuid, [hardware.mac]], name);
        assert.notEqual(spki, undefined, name);
        assert.equal(pool === undefined, role === "controlplane", name);
      }
      const writer = { identity: "another", fencingToken: "another" };
      assert.deepEqual(printRecord(demo, facts, recordIn(recorded), writer), recordIn(recorded));
    });
  }
});

describe("a settled cluster of an earlier version", () => {
  test("is known by its record in full", () => {
    const facts = factsIn(readRecordedWorld("healthy"));
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

  test("stays as it is, and the record with it", () =>
    goOn("healthy", async (world, recorded) => {
      await assertSettled(world);
      assert.deepEqual(world.sent, []);
      assert.equal((await world.get(kinds.record))?.metadata?.resourceVersion, recordIn(recorded).metadata.resourceVersion);
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

test("member-half-removed: the member is removed once, and its successor joins after it", () =>
  goOn("member-half-removed", async (world, recorded) => {
    const facts = factsIn(recorded);
    assert.deepEqual(intentsOf(facts), ["RemoveMember demo-10.5.0.3 controlplane"]);
    assert.equal(facts.intents[0]?.memberId, facts.machines.find(({ name }) => name === "demo-10.5.0.3")?.memberId);
    await untilReady(world);
    assert.deepEqual(world.sent, ["EtcdRemoveMemberByID 10.5.0.1", "ApplyConfiguration 10.5.0.6"]);
    // It was not wiped: when it is back, it is.
    assert.ok((await machineObjects(world)).includes("demo-10.5.0.3"));
    world.datacenter.machine("10.5.0.3").powerOn();
    await world.until("released", async () => !(await machineObjects(world)).includes("demo-10.5.0.3"), 900);
    assert.deepEqual(world.sent.slice(2), ["Reset 10.5.0.3"]);
  }));

test("composed-shrinking: the worker that is being wiped is released, and its Machine goes after it", () =>
  tellComposition({ from: readRecordedWorld("composed-shrinking"), machines: [] }, async (world) => {
    await world.start();
    await world.until("gone", async () => (await world.machineNames()).join() === "demo-cp-0,demo-workers-0", 600);
    await world.untilComposed();
    assert.deepEqual(world.sent, []);
    assert.deepEqual([...world.files.texts.keys()].toSorted(), ["demo/.owner", "demo/demo-cp-0.yaml", "demo/demo-workers-0.yaml"]);
  }));
