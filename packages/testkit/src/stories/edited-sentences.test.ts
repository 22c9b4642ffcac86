// What the operator has to know again is data: whatever people make of its sentences, it goes on; and it believes of that data no more than machines show.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { ClusterRecord, Condition, TalosMachine } from "@talos-operator/api";
import { readRecord } from "@talos-operator/operator/testing";
import type { ClusterFacts } from "@talos-operator/operator/testing";
import type { RecordedWorld } from "../world/recorded-world.ts";
import { kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const folder = new URL("../../testdata/recorded/", import.meta.url);
const readRecordedWorld = (state: string): RecordedWorld =>
  JSON.parse(readFileSync(new URL(`${state}.json`, folder), "utf8")) as RecordedWorld;

const demo = { namespace: "default", name: "demo" };
const off = { namespace: "default", name: "demo-10.5.0.5" };
type Stored = TalosMachine & { readonly metadata: object };
type Status = NonNullable<TalosMachine["status"]>;

async function statusOf(world: Story): Promise<Status> {
  return (await world.client.resource<Stored>(kinds.machine).get(off)).status ?? assert.fail("it has no status");
}

/** A person writes the status. */
async function write(world: Story, edit: (status: Status) => Partial<Status>): Promise<void> {
  const status = edit(await statusOf(world));
  await world.client.resource<Stored>(kinds.machine).patchStatus(off, { type: "merge", value: { status } });
}

const edited = ({ conditions = [] }: Status): Pick<Status, "conditions"> => ({
  conditions: conditions.map((condition: Condition) =>
    condition.type === "IdentityUnique" || condition.type === "MaintenanceIdentityPinned"
      ? {
          ...condition,
          message: `As Alice says: ${condition.message.replaceAll(/[0-9a-f]{8}-\S+/g, "11111111-2222-3333-4444-555555555555")}`,
        }
      : condition,
  ),
});

async function loseRecord(world: Story): Promise<void> {
  const records = world.client.resource<ClusterRecord & { readonly metadata: object }>(kinds.record);
  await records.patch(demo, { type: "merge", value: { metadata: { finalizers: [] } } });
  await records.delete(demo);
  assert.equal(await world.get(kinds.record), undefined);
}

/** What a record that was made anew says of the machine that is off. */
async function knownAgain(world: Story): Promise<ClusterFacts["machines"][number]> {
  await world.until("a record", async () => (await world.get(kinds.record)) !== undefined);
  await world.time.advance(60_000);
  const record = await world.client.resource<ClusterRecord & { readonly metadata: object }>(kinds.record).get(demo);
  return readRecord(record)?.facts.machines.find(({ name }) => name === off.name) ?? assert.fail("it is not known any more");
}

describe("a machine that is off while the record is lost", () => {
  const from = readRecordedWorld("healthy");
  const uuid = from.datacenter.machines.find(({ hardware }) => hardware.address === "10.5.0.5")?.hardware.uuid;
  /** A cluster that an operator of this release has told of, that none looks at, and one of whose machines is off. */
  const later = (story: (world: Story) => Promise<void>): Promise<void> =>
    tell({ from, machines: [] }, async (world) => {
      await world.start();
      await world.until("its identity", async () => (await statusOf(world)).identity !== undefined);
      await world.stop();
      world.datacenter.machine("10.5.0.5").powerOff();
      await story(world);
    });

  test("is known by its identity, whatever somebody made of the sentences", () =>
    later(async (world) => {
      await write(world, edited);
      await loseRecord(world);
      await world.start();
      assert.equal((await knownAgain(world)).uuid, uuid);
      world.datacenter.machine("10.5.0.5").powerOn();
      await world.until("Ready", async () => (await world.condition(kinds.cluster, "Ready"))?.status === "True", 900);
      assert.deepEqual(world.sent, []);
    }));

  test("is not taken for the one that somebody wrote into its identity: it shows another UUID, and is sent nothing", () =>
    later(async (world) => {
      await loseRecord(world);
      await write(world, ({ identity }) => ({ identity: { ...identity, uuid: "11111111-2222-3333-4444-555555555555" } }));
      await world.start();
      await knownAgain(world);
      world.datacenter.machine("10.5.0.5").powerOn();
      await world.time.advance(600_000);
      assert.equal((await world.condition(kinds.machine, "Ready", off.name))?.reason, "IdentityMismatch");
      assert.deepEqual(world.sent, []);
    }));

  test("is told of as the record has it, whatever somebody wrote into its identity", () =>
    later(async (world) => {
      await write(world, () => ({ identity: { uuid: "11111111-2222-3333-4444-555555555555" } }));
      await world.start();
      world.datacenter.machine("10.5.0.5").powerOn();
      await world.until("its own UUID", async () => (await statusOf(world)).identity?.uuid === uuid, 900);
    }));
});
