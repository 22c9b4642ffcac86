import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { addresses, compareCalls, configure, parseRecorded, strayAddress, threeVoters } from "./control-planes.ts";
import type { RecordedStep } from "./control-planes.ts";

const textOf = (name: string): string => readFileSync(join(import.meta.dirname, `../../testdata/transcripts/${name}.json`), "utf8");

interface CareStep extends RecordedStep {
  /** Of the quota that is in use. */
  readonly share?: number;
  readonly bytes?: number;
  readonly isRefused?: boolean;
}

/** A full etcd goes through what was recorded. */
async function compareCare(name: string, quotaBytes: number, differences: ReadonlyMap<string, string>): Promise<void> {
  const world = await threeVoters((config) =>
    config.replace(
      /^( +)etcd:\n/m,
      (line, indent: string) => `${line}${indent}    extraArgs:\n${indent}        quota-backend-bytes: "${quotaBytes}"\n`,
    ),
  );
  const database = world.datacenter.etcdDatabase(world.datacenter.etcdClusters()[0]?.key ?? "");
  const act = async ({ label, step, machine = "n1", share = 0, bytes = 0, isRefused }: CareStep): Promise<void> => {
    assert.ok(database !== undefined);
    if (step === "fill") database.fill(share);
    if (step === "erase") assert.equal(database.erase(bytes), undefined, label);
    if (step === "compact") assert.equal(database.compact(), undefined, label);
    if (step !== "put") return;
    const at = world.datacenter.machine(addresses[machine]).state.etcd.data?.memberId ?? "";
    assert.equal(database.put(1_024, { at }) !== undefined, isRefused, label);
  };
  assert.deepEqual(await compareCalls(world, parseRecorded<CareStep>(textOf(name)), differences, act), []);
}

test("an etcd that is full is defragmented and its alarms are taken back as genuine machines were recorded", () =>
  // Simulated files fill alike.
  compareCare(
    "k-etcd-care",
    20_971_520,
    new Map([["none at the end", "the file of n3, never defragmented, was right below the quota there"]]),
  ));

test("a member that is defragmented goes on without its caller", () => compareCare("o-defragment-alone", 209_715_200, new Map()));

test("a member that no machine has is removed as from genuine machines: twice, and without a leader", async () => {
  const world = await threeVoters();
  const machine = world.datacenter.addMachine({ name: "stray", address: strayAddress, platform: "container" });
  const act = async (one: RecordedStep): Promise<void> => {
    if (one.step !== "stray") {
      world.datacenter.machine(addresses[one.machine ?? "n1"]).setConnected(one.step === "connect");
      return;
    }
    machine.powerOff();
    machine.replaceDisk();
    machine.powerOn();
    await world.time.advance(60_000);
    await configure(world, strayAddress);
    await world.time.advance(120_000);
    machine.powerOff();
    await world.time.advance(5_000);
  };
  assert.deepEqual(await compareCalls(world, parseRecorded<RecordedStep>(textOf("m-stray-member")), new Map(), act), []);
});
