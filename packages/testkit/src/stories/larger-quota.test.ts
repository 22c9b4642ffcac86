import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosCluster } from "@talos-operator/api";
import { annotations } from "@talos-operator/api";
import { databaseOf, healed, isFull, sentTo } from "./full-etcd.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const at = (...numbers: readonly number[]): readonly string[] => numbers.map((n) => `10.5.0.${n}`);
const demo = { namespace: "default", name: "demo" };

function ready(count: number, story: (world: Story) => Promise<void>, workers: readonly string[] = []): Promise<void> {
  return tell({}, async (world) => {
    const controlPlanes = at(...Array.from({ length: count }, (_, index) => index + 1));
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(controlPlanes, workers));
    await world.start();
    await world.untilReady();
    await world.until("read", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.status === "True");
    await story(world);
  });
}
const quota = (bytes: number): object => ({ cluster: { etcd: { extraArgs: { "quota-backend-bytes": String(bytes) } } } });
const GIB = 1_073_741_824;
const patched = (world: Story, ...configPatches: readonly object[]): Promise<unknown> =>
  world.client
    .resource(kinds.cluster)
    .patch(demo, { type: "merge", value: { spec: { controlPlane: { metalSpec: { machineSpec: { configPatches } } } } } });
async function full(world: Story, share = 0.99): Promise<void> {
  databaseOf(world).fill(share);
  await world.until("told", async () => isFull(world), 120);
}
const told = async (world: Story): Promise<string> => (await world.condition(kinds.controlPlane, "EtcdHealthy"))?.message ?? "";
const pause = (world: Story, name: string, value: string | null): Promise<unknown> =>
  world.client
    .resource(kinds.machine)
    .patch({ namespace: "default", name }, { type: "merge", value: { metadata: { annotations: { [annotations.reconcileMode]: value } } } });

test("a larger quota in which what is in use has no room boots nobody", () =>
  ready(3, async (world) => {
    await full(world);
    const before = world.sent.length;
    await patched(world, quota(2 * GIB + 2 ** 20));
    await world.time.advance(300_000);
    assert.deepEqual(world.sent.slice(before), []);
    assert.match(
      await told(world),
      /defragmenting would free nothing: .*; the quota of 2049 MiB that the settings of demo-10\.5\.0\.1 ask for is too small for what is in use, too\./,
    );
    await patched(world, quota(0));
    await world.until("told", async () => (await told(world)).includes("ask for is no more than the 2048 MiB of now"));
    assert.deepEqual(world.sent.slice(before), []);
    await patched(world, quota(4 * GIB));
    await healed(world);
  }));

for (const [what, bytes, want] of [
  ["smaller than its files", GIB, /in the quota of 1024 MiB .* its file of \d+ MiB has no room; ask for a larger one/],
  ["of 0, which is etcd's own of 2 GiB, below what is in use", 0, /in the quota of 2048 MiB .* has no room; ask for a larger one/],
] as const)
  test(`a quota ${what} boots nobody, and says so before etcd would be full`, () =>
    ready(3, async (world) => {
      await patched(world, quota(4 * GIB));
      await world.until("in force", async () => sentTo(world, "Reboot").length === 3, 1_800);
      const upToDate = (): ReturnType<typeof world.condition> => world.condition(kinds.controlPlane, "ConfigUpToDate");
      await world.until("settled", async () => (await upToDate())?.status === "True", 600);
      assert.equal(databaseOf(world).put(2.5 * GIB), undefined);
      await world.time.advance(60_000);
      const before = world.sent.length;
      await patched(world, quota(bytes));
      await world.time.advance(300_000);
      assert.deepEqual(world.sent.slice(before), []);
      const message = (await upToDate())?.message ?? "";
      assert.match(message, want);
      assert.match(
        message,
        /^Not changed yet: demo-10\.5\.0\.1, demo-10\.5\.0\.2, demo-10\.5\.0\.3 \(etcd would be full: [^()]*\([^()]*\)[^()]*\)\.$/,
      );
      assert.deepEqual(databaseOf(world).alarms(), []);
      await patched(world, quota(8 * GIB));
      await world.until("in force", async () => sentTo(world, "Reboot").length === 6, 1_800);
    }));

test("no control plane joins with a quota in which what the others hold has no room, and stops their writes", () =>
  ready(3, async (world) => {
    await patched(world, quota(4 * GIB));
    await world.until("in force", async () => sentTo(world, "Reboot").length === 3, 1_800);
    await world.until("settled", async () => (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.status === "True", 600);
    assert.equal(databaseOf(world).put(2.5 * GIB), undefined);
    await world.time.advance(60_000);
    await patched(world, quota(GIB));
    const machines = at(1, 2, 3, 5, 6).map((address) => ({ address }));
    await world.client
      .resource(kinds.cluster)
      .patch(demo, { type: "merge", value: { spec: { controlPlane: { metalSpec: { machines } } } } });
    const isSaid = async (): Promise<boolean> =>
      /demo-10\.5\.0\.5 does not join: etcd would be full: .*has no room; ask for a larger one/.test(
        (await world.condition(kinds.controlPlane, "Ready"))?.message ?? "",
      );
    await world.until("said", isSaid, 300);
    await world.time.advance(300_000);
    assert.deepEqual([sentTo(world, "ApplyConfiguration 10.5.0.5"), databaseOf(world).alarms()], [[], []]);
    await patched(world, quota(8 * GIB));
    await world.until("joined", async () => world.datacenter.etcdClusters()[0]?.members.length === 5, 1_800);
    assert.deepEqual(databaseOf(world).alarms(), []);
  }));

test("a larger quota that a machine refuses is not said to wait for its boot", () =>
  ready(3, async (world) => {
    await full(world);
    const fault = { machine: "10.5.0.1", method: "ApplyConfiguration", effect: { kind: "error", code: 3, message: "no" } } as const;
    const refusal = world.datacenter.inject(fault);
    await patched(world, quota(4 * GIB));
    await world.time.advance(300_000);
    assert.match(await told(world), /stopped at demo-10\.5\.0\.1: see the condition ConfigUpToDate\. .*docs\/runbooks/);
    assert.deepEqual(sentTo(world, "Reboot"), [], "the others are not booted past it");
    refusal.remove();
    await world.annotate(kinds.controlPlane, annotations.retryConfig, "demo-10.5.0.1");
    await healed(world);
  }));

test("a worker whose settings failed stops no control plane that boots for a larger quota, and any other change of one", () =>
  ready(
    3,
    async (world) => {
      const fault = { machine: "10.5.0.4", method: "ApplyConfiguration", effect: { kind: "error", code: 3, message: "no" } } as const;
      world.datacenter.inject(fault);
      const configPatches = [{ machine: { nodeLabels: { rack: "r1" } } }];
      const spec = { worker: { metalSpec: { machineSpec: { configPatches } } } };
      await world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec } });
      const isFailed = async (): Promise<boolean> =>
        (await world.condition(kinds.controlPlane, "ConfigUpToDate"))?.reason === "ConfigRejected";
      await world.until("failed", isFailed, 300);
      await full(world);
      await patched(world, quota(4 * GIB));
      await world.until("the alarm is gone", async () => databaseOf(world).alarms().length === 0, 1_800);
      assert.deepEqual(sentTo(world, "Reboot"), ["Reboot 10.5.0.1", "Reboot 10.5.0.2", "Reboot 10.5.0.3"]);
      const before = world.sent.length;
      await patched(world, quota(4 * GIB), { machine: { nodeLabels: { rack: "r2" } } });
      await world.time.advance(120_000);
      assert.deepEqual(world.sent.slice(before), []);
    },
    at(4),
  ));

test("a control plane that is paused and lacks the larger quota is named, and boots once it is paused no more", () =>
  ready(3, async (world) => {
    await full(world);
    await pause(world, "demo-10.5.0.3", "disable");
    await world.time.advance(5_000);
    await patched(world, quota(4 * GIB));
    await world.time.advance(300_000);
    assert.deepEqual(sentTo(world, "Reboot"), ["Reboot 10.5.0.1", "Reboot 10.5.0.2"]);
    assert.match(
      await told(world),
      /the settings of demo-10\.5\.0\.3 changed, and it is paused by its annotation talos\.alperen\.cloud\/reconcile-mode/,
    );
    await pause(world, "demo-10.5.0.3", null);
    await healed(world);
  }));

test("of two voters neither is booted for a larger quota, and a person is told to do it", () =>
  ready(3, async (world) => {
    world.datacenter.machine("10.5.0.3").powerOff();
    world.datacenter.machine("10.5.0.5").setConnected(false);
    const machines = at(1, 2, 5).map((address) => ({ address }));
    await world.client
      .resource(kinds.cluster)
      .patch(demo, { type: "merge", value: { spec: { controlPlane: { metalSpec: { machines } } } } });
    await world.until("two voters", async () => world.datacenter.etcdClusters()[0]?.members.length === 2, 900);
    await full(world);
    await patched(world, quota(4 * GIB));
    await world.time.advance(300_000);
    assert.deepEqual(sentTo(world, "Reboot"), []);
    assert.match(await told(world), /two voters are booted by hand\. Stage it on demo-10\.5\.0\.1 .*docs\/runbooks/);
  }));

test("a control plane whose etcd does not come back from its boot is named while the others wait for theirs", () =>
  ready(3, async (world) => {
    // While nobody leads nobody compares: no alarm tells that the data of one differ.
    for (const address of at(2, 3)) world.datacenter.machine(address).setConnected(false);
    world.datacenter.machine("10.5.0.1").corruptEtcd();
    for (const address of at(2, 3)) world.datacenter.machine(address).setConnected(true);
    await world.time.advance(1_000);
    await full(world);
    await patched(world, quota(4 * GIB));
    await world.until("it does not come back", async () => (await told(world)).includes("etcd does not run on demo-10.5.0.1: if it stays"));
    assert.deepEqual(sentTo(world, "Reboot"), ["Reboot 10.5.0.1"]);
    databaseOf(world).mend();
    await healed(world);
  }));
