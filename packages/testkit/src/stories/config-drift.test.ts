import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Condition } from "@talos-operator/api";
import { patchMachineConfig } from "@talos-operator/talos";
import { asPerson } from "./as-person.ts";
import { apply, assertQuiet } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const demo = { namespace: "default", name: "demo" };
const cps = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];

async function settled(world: Story, cluster: unknown = demoCluster(cps, ["10.5.0.4"])): Promise<void> {
  await apply(world, kinds.cluster, cluster);
  await world.start();
  await world.untilReady();
  await untilUpToDate(world);
  await world.time.advance(5_000);
}

async function edit(world: Story, spec: unknown): Promise<void> {
  await world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec } });
  await world.time.advance(1_000);
}

const upToDate = (world: Story): Promise<Condition | undefined> => world.condition(kinds.controlPlane, "ConfigUpToDate");
const drift = (world: Story): Promise<Condition | undefined> => world.condition(kinds.controlPlane, "ConfigDrift");
const untilUpToDate = (world: Story, seconds = 1_800): Promise<void> =>
  world.until("up to date", async () => (await upToDate(world))?.reason === "UpToDate", seconds);
const label = (value: string): object => ({ machine: { nodeLabels: { "example.org/rack": value } } });
const workersWith = (...configPatches: object[]): object => ({ worker: { metalSpec: { machineSpec: { configPatches } } } });
const configOf = (world: Story, address: string): { readonly active: string; readonly onDisk: string } => {
  const { active = "", persisted = "" } = world.datacenter.machine(address).state.config;
  return { active, onDisk: persisted };
};

/** What a person does with talosctl, past the operator. */
async function byHand(world: Story, address: string, patch: object, mode: "no-reboot" | "staged" | "try" = "no-reboot"): Promise<void> {
  const { active } = configOf(world, address);
  const config = patchMachineConfig(active, [JSON.stringify(patch)]);
  await asPerson(world, address, (client) => client.applyConfiguration({ config, mode, tryTimeoutMs: 60_000 }, { timeoutMs: 10_000 }));
}

describe("an operator that is killed", () => {
  test("between trial and keeping: the next one waits until the trial is over, and tries once more", () =>
    tell({}, async (world) => {
      await settled(world);
      const sent = world.sent.length;
      await edit(world, workersWith(label("r1")));
      await world.until("tried", async () => configOf(world, "10.5.0.4").active.includes("rack: r1"));
      await world.kill();
      await world.start();
      await world.time.advance(150_000);
      // A trial during a trial would come back to the first tried text.
      assert.deepEqual(world.sent.slice(sent), ["ApplyConfiguration 10.5.0.4"]);
      await untilUpToDate(world);
      assert.equal(world.sent.slice(sent).length, 3);
      assert.ok(configOf(world, "10.5.0.4").onDisk.includes("rack: r1"));
      assert.equal(configOf(world, "10.5.0.4").active, configOf(world, "10.5.0.4").onDisk);
      await assertQuiet(world);
    }));

  test("between staging and boot: the next one boots the machine once", () =>
    tell({}, async (world) => {
      await settled(world);
      const sent = world.sent.length;
      const before = world.datacenter.machine("10.5.0.4").state.bootCount;
      await edit(
        world,
        workersWith({ machine: { kubelet: { extraArgs: { "feature-gates": "A=true" } }, env: { GRPC_GO_LOG_VERBOSITY_LEVEL: "99" } } }),
      );
      // What needs no boot is tried and kept first.
      await world.until("staged", async () => configOf(world, "10.5.0.4").onDisk.includes("GRPC_GO_LOG_VERBOSITY_LEVEL"));
      await world.kill();
      await world.start();
      await untilUpToDate(world);
      assert.equal(world.datacenter.machine("10.5.0.4").state.bootCount, before + 1);
      assert.deepEqual(world.sent.slice(sent), [...Array<string>(3).fill("ApplyConfiguration 10.5.0.4"), "Reboot 10.5.0.4"]);
      await assertQuiet(world);
    }));

  test("right after the boot was ordered: the machine is not booted a second time", () =>
    tell({}, async (world) => {
      await settled(world);
      const sent = world.sent.length;
      const before = world.datacenter.machine("10.5.0.4").state.bootCount;
      await edit(world, workersWith({ machine: { env: { NO_PROXY: "example.org" } } }));
      await world.until("ordered", async () => world.sent.slice(sent).some((call) => call.startsWith("Reboot")));
      await world.kill();
      await world.start();
      await untilUpToDate(world);
      assert.equal(world.datacenter.machine("10.5.0.4").state.bootCount, before + 1);
      await assertQuiet(world);
    }));
});

describe("an operator that starts anew", () => {
  test("finds a record of an earlier version, learns what machines run, and rolls out nothing", () =>
    tell({}, async (world) => {
      await settled(world);
      await world.stop();
      const records = world.client.resource<{ readonly metadata: { name: string }; spec: Record<string, unknown> }>(kinds.record);
      const record = await records.get(demo);
      for (const list of ["knownControlPlanes", "knownWorkers"])
        for (const machine of record.spec[list] as Record<string, unknown>[]) {
          delete machine["appliedHash"];
          delete machine["configContract"];
        }
      await records.update(record);
      const sent = world.sent.length;
      await world.start();
      await world.time.advance(120_000);
      assert.deepEqual(world.sent.slice(sent), []);
      assert.equal((await upToDate(world))?.reason, "UpToDate");
      await assertQuiet(world);
    }));
});

describe("a change that somebody else makes on a machine", () => {
  test("is reported with path, value and a patch to keep it, and left alone", () =>
    tell({}, async (world) => {
      await settled(world);
      await byHand(world, "10.5.0.4", label("by-hand"));
      const sent = world.sent.length;
      await world.start();
      await world.until("reported", async () => (await drift(world))?.reason === "DriftReported");
      const message = (await drift(world))?.message ?? "";
      assert.match(message, /10\.5\.0\.4: machine\.nodeLabels\["example\.org\/rack"\]: nothing → by-hand/);
      assert.match(message, /configPatches: \{"machine":\{"nodeLabels":\{"example\.org\/rack":"by-hand"\}\}\}/);
      await world.time.advance(60_000);
      await assertQuiet(world, 30);
      assert.deepEqual(world.sent.slice(sent), []);
      // The patch that the message names makes it the wanted state, without a call to the machine.
      await edit(world, workersWith(JSON.parse(/configPatches: (.*)$/.exec(message)?.[1] ?? "") as object));
      await world.until("adopted", async () => (await drift(world)) === undefined);
      assert.deepEqual(world.sent.slice(sent), []);
    }));

  test("is brought back where the control plane's policy says so", () =>
    tell({}, async (world) => {
      await settled(world, demoCluster(cps, ["10.5.0.4"], { driftPolicy: "Revert" }));
      await byHand(world, "10.5.0.4", label("by-hand"));
      await byHand(world, "10.5.0.2", label("by-hand"));
      await world.start();
      await world.until("reverting", async () => (await drift(world))?.reason === "DriftReverting");
      const isBack = (address: string): boolean => !JSON.stringify(configOf(world, address)).includes("by-hand");
      await world.until("back", async () => ["10.5.0.2", "10.5.0.4"].every(isBack) && (await drift(world)) === undefined, 900);
      await world.time.advance(60_000);
      await assertQuiet(world, 30);
    }));

  test("is told without secrets", () =>
    tell({}, async (world) => {
      await settled(world);
      await byHand(world, "10.5.0.4", {
        machine: { registries: { config: { "example.org": { auth: { username: "me", password: "hunter2hunter2" } } } } },
      });
      await world.start();
      await world.until("reported", async () => (await drift(world))?.reason === "DriftReported");
      const objects = await Promise.all(
        [kinds.controlPlane, kinds.record, kinds.cluster, kinds.machine].map((type) =>
          world.client.resource(type).list({ namespace: "default" }),
        ),
      );
      const events = await world.client.resource(kinds.event).list({ namespace: "default" });
      assert.ok(!JSON.stringify([objects, events]).includes("hunter2"));
      assert.match((await drift(world))?.message ?? "", /password/);
    }));

  test("that waits on the disk for the next boot is seen too", () =>
    tell({}, async (world) => {
      await settled(world);
      await byHand(world, "10.5.0.4", label("staged"), "staged");
      await world.start();
      await world.until("reported", async () => (await drift(world))?.reason === "DriftReported");
      assert.match((await drift(world))?.message ?? "", /waits on its disk for the next boot/);
    }));
});
