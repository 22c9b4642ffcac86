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

/** What the recorder did to a machine, or saw of it. */
interface QuotaStep extends CareStep {
  readonly count?: number;
  readonly refused?: boolean;
  /** Of the configuration, and of the process. Bytes. */
  readonly etcdSpecQuota?: number;
  readonly etcdProcessQuota?: number;
  readonly applied?: { readonly quotaBytes: number; readonly mode: ApplyMode; readonly code: number; readonly message: string };
}

type ApplyMode = "staged" | "no-reboot" | "auto" | "try" | "reboot";

/** A configuration is not in the transcript: each machine gets its own, with the quota that was recorded. */
function withAppliesAsSteps(text: string): ReturnType<typeof parseRecorded<QuotaStep>> {
  return parseRecorded<QuotaStep>(text).flatMap((one) => {
    if ("step" in one || !one.method.endsWith("/ApplyConfiguration")) return [one];
    const { data, mode, dryRun } = one.request as { readonly data: string; readonly mode: string; readonly dryRun?: boolean };
    if (dryRun === true) return [];
    const quotaBytes = Number(/quota-backend-bytes (\d+)/.exec(data)?.[1]);
    const applied = { quotaBytes, mode: mode.toLowerCase().replace("_", "-") as ApplyMode, code: one.code, message: one.message ?? "" };
    return [{ label: one.label, step: "apply", machine: one.machine, applied }];
  });
}

test("a larger quota beneath the alarm is in force after a boot, and what the configuration says before is not what etcd keeps to, as recorded", async () => {
  const withQuota = (config: string, quotaBytes: number): string =>
    config.replace(
      /^( +)etcd:\n( +extraArgs:\n +quota-backend-bytes: "\d+"\n)?/m,
      (_all, indent: string) => `${indent}etcd:\n${indent}    extraArgs:\n${indent}        quota-backend-bytes: "${quotaBytes}"\n`,
    );
  const world = await threeVoters((config) => withQuota(config, 20_971_520));
  const database = world.datacenter.etcdDatabase(world.datacenter.etcdClusters()[0]?.key ?? "");
  const act = async ({ label, step, machine = "n1", share = 0, count = 0, refused, applied, ...saw }: QuotaStep): Promise<void> => {
    assert.ok(database !== undefined);
    const cell = world.datacenter.machine(addresses[machine]);
    const spec = (): number => Number(/quota-backend-bytes: "(\d+)"/.exec(cell.state.config.active ?? "")?.[1]);
    if (step === "fill" && share > 0) database.fill(share);
    if (step === "fill" && share === 0) for (let n = 0; n < count; n += 1) database.put(262_144);
    if (step === "put") {
      const at = cell.state.etcd.data?.memberId ?? "";
      assert.equal(database.put(1_024, { at }) !== undefined, refused, label);
    }
    if (step === "restart") {
      cell.powerOff();
      cell.powerOn();
      await world.time.advance(180_000);
    }
    if (step === "observe" && saw.etcdSpecQuota !== undefined) {
      // A trial that is over was waited for.
      if (label.includes("rolled back")) await world.time.advance(30_000);
      assert.deepEqual([spec(), cell.state.etcd.quotaBytes], [saw.etcdSpecQuota, saw.etcdProcessQuota], label);
    }
    if (applied === undefined) return;
    const { quotaBytes, mode, code } = applied;
    const config = withQuota(cell.state.config.persisted ?? "", quotaBytes);
    const client = await world.client(addresses[machine], "os:admin");
    const sent = client.applyConfiguration({ config, mode, ...(mode === "try" ? { tryTimeoutMs: 20_000 } : {}) }).then(
      () => "OK",
      (failure: unknown) => (failure as { readonly code?: string }).code,
    );
    await world.time.advance(1_000);
    assert.equal(await sent, code === 0 ? "OK" : "FAILED_PRECONDITION", label);
  };
  const differences = new Map([
    ["alarms after 3 s", "simulated files fill alike; there the one of n3 was still below the small quota"],
    ["alarms again", "a Kubernetes wrote there by itself, and none does here"],
    ["disarmed once more", "as before: there is nothing to take back"],
    ["status of n1 at the end", "pages that are half full are not simulated"],
  ]);
  assert.deepEqual(await compareCalls(world, withAppliesAsSteps(textOf("p-larger-quota")), differences, act), []);
});

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
