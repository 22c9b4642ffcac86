// What control planes of one and two voters of etcd cost while they get another Talos: said before it begins, and of two only with a person's word.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations, talosEtcdBackupScheduleResource } from "@talos-operator/api";
import type { TalosEtcdBackupSchedule } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { demoTimings } from "@talos-operator/simulator";
import { createScriptedRunner, takenBy } from "../world/scripted-runner.ts";
import type { ScriptedRunner } from "../world/scripted-runner.ts";
import { cordonAt, inside, nodeAt } from "./cluster-pods.ts";
import { apply } from "./quiet.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const demo = { namespace: "default", name: "demo" };
const two = ["10.5.0.1", "10.5.0.2"];
const worker = "10.5.0.4";

async function ready(world: Story, controlPlanes: readonly string[], workers: readonly string[] = [worker]): Promise<number> {
  await apply(world, kinds.cluster, demoCluster(controlPlanes, workers));
  await world.start();
  await world.untilReady();
  return world.sent.length;
}

/** Two voters: the third control plane died, its member is gone, and the machine in its place is not there yet. */
async function pair(world: Story, workers: readonly string[] = [worker]): Promise<number> {
  await ready(world, [...two, "10.5.0.3"], workers);
  world.datacenter.machine("10.5.0.3").powerOff();
  world.datacenter.machine("10.5.0.5").setConnected(false);
  const machines = [...two, "10.5.0.5"].map((address) => ({ address }));
  await world.client.resource(kinds.cluster).patch(demo, { type: "merge", value: { spec: { controlPlane: { metalSpec: { machines } } } } });
  await world.until("two voters", async () => world.datacenter.etcdClusters()[0]?.members.length === 2, 900);
  await world.annotate(kinds.controlPlane, annotations.abandonMachine, world.datacenter.machine("10.5.0.3").state.hardware.uuid);
  await world.until("the dead one is given up", async () => (await world.condition(kinds.controlPlane, "Removing")) === undefined, 300);
  await world.time.advance(30_000);
  return world.sent.length;
}

const ask = (world: Story, version: string, pools: readonly string[] = ["controlPlane", "worker"]): Promise<unknown> =>
  world.client
    .resource(kinds.cluster)
    .patch(demo, { type: "merge", value: { spec: Object.fromEntries(pools.map((pool) => [pool, { version }])) } });
const approve = (world: Story, value: string | undefined): Promise<void> =>
  world.annotate(kinds.controlPlane, annotations.approveOutage, value);
const approval = async (world: Story): Promise<string | undefined> =>
  (await world.get(kinds.controlPlane))?.metadata?.annotations?.[annotations.approveOutage];
const pending = (world: Story) => world.condition(kinds.controlPlane, "UpgradePending");
const says = (world: Story, words: RegExp, seconds = 120): Promise<void> =>
  world.until(`it says ${words.source}`, async () => words.test((await pending(world))?.message ?? ""), seconds);

async function upgraded(world: Story, version: string, addresses: readonly string[]): Promise<void> {
  const all = async (): Promise<boolean> =>
    addresses.every((address) => world.datacenter.machine(address).state.hardware.talosVersion === version);
  await world.until(`all run ${version}`, all, 3_600);
  await world.until("nothing is pending", async () => (await pending(world)) === undefined, 1_800);
  await world.until("no word is left", async () => (await approval(world)) === undefined, 120);
}

interface Told extends KubeObject {
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly kind: string };
}

/** What events say of outages. */
async function outages(world: Story): Promise<readonly string[]> {
  const { items } = await world.client.resource<Told>(kinds.event).list({ namespace: "default" });
  return items.flatMap(({ reason, note, regarding }) => (reason === "ControlPlaneOutage" ? [`${regarding.kind}: ${note}`] : []));
}

describe("the only voter of etcd", () => {
  test("is announced before it is installed, with no snapshot where there is no store, and comes back", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world, ["10.5.0.1"]);
      await ask(world, "v1.13.10");
      await world.until("installing", async () => world.sent.includes("Upgrade 10.5.0.1"), 300);
      const [event, ...more] = await outages(world);
      assert.deepEqual(more, []);
      assert.match(
        event ?? "",
        /^TalosCluster: demo-10\.5\.0\.1 is the only voter of etcd: while it boots, .* away\. No snapshot of etcd is taken before these are upgraded \(demo-10\.5\.0\.1\), for this operator takes no backups/,
      );
      assert.match((await pending(world))?.message ?? "", /demo-10\.5\.0\.1 is the only voter of etcd: while it boots, .*No snapshot/);
      await upgraded(world, "v1.13.10", ["10.5.0.1", worker]);
      const calls = ["10.5.0.1", worker].flatMap((address) => [`Pull ${address}`, `Upgrade ${address}`, `Reboot ${address}`]);
      assert.deepEqual(world.sent.slice(sent), calls);
      assert.equal((await outages(world)).length, 1, "a worker is none");
    }));

  test("is upgraded after a fresh snapshot, where there is a store", () => {
    let runner: ScriptedRunner | undefined;
    const backups = () => {
      if (runner === undefined) throw new Error("the story has not begun");
      return { runner, backupDirectory: "/backups" };
    };
    return tell({ timings: demoTimings, backups }, async (world) => {
      const workers = createScriptedRunner(world.time.clock);
      runner = workers;
      await ready(world, ["10.5.0.1"]);
      await world.client.resource<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource).create({
        apiVersion: "talos.alperen.cloud/v1alpha1",
        kind: "TalosEtcdBackupSchedule",
        metadata: { namespace: "default", name: "nightly" },
        spec: {
          schedule: "0 0 1 1 *",
          backupTemplate: { spec: { talosControlPlaneRef: { name: "demo" }, backupStorage: { directory: { path: "nightly" } } } },
        },
      });
      await ask(world, "v1.13.10");
      await world.until("a snapshot is taken", async () => workers.begun.length === 1, 300);
      await world.time.advance(60_000);
      assert.equal(world.sent.includes("Upgrade 10.5.0.1"), false, "nothing is installed before it is stored");
      const end = async (): Promise<boolean> => {
        for (const run of workers.begun)
          if ((await workers.look(run.name)).kind === "running") workers.end(run.name, takenBy(run, world.time.clock.now()));
        return world.sent.includes("Upgrade 10.5.0.1");
      };
      await world.until("installing", end, 300);
      assert.match((await outages(world)).join(), /is a snapshot of etcd from before these are upgraded/);
      await upgraded(world, "v1.13.10", ["10.5.0.1", worker]);
    });
  });

  test("is not drained where no other node takes its pods", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world, ["10.5.0.1"], []);
      const before = world.workloadWrites.length;
      await ask(world, "v1.13.10", ["controlPlane"]);
      await upgraded(world, "v1.13.10", ["10.5.0.1"]);
      assert.deepEqual(world.workloadWrites.slice(before), []);
    }));

  test("is not drained where a person cordoned the only other node", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world, ["10.5.0.1"]);
      const name = (await nodeAt(world, worker))?.metadata?.name ?? "";
      await world
        .workload()
        .resource(inside.node)
        .patch({ name }, { type: "merge", value: { spec: { unschedulable: true } } });
      await world.kill();
      await world.start();
      await world.time.advance(120_000);
      const before = world.workloadWrites.length;
      await ask(world, "v1.13.10", ["controlPlane"]);
      await upgraded(world, "v1.13.10", ["10.5.0.1"]);
      assert.deepEqual(world.workloadWrites.slice(before), []);
      assert.equal(await cordonAt(world, worker), "theirs");
    }));

  test("is drained where another node takes its pods", () =>
    tell({ timings: demoTimings }, async (world) => {
      await ready(world, ["10.5.0.1"]);
      const before = world.workloadWrites.length;
      await ask(world, "v1.13.10", ["controlPlane"]);
      await upgraded(world, "v1.13.10", ["10.5.0.1"]);
      const name = (await nodeAt(world, "10.5.0.1"))?.metadata?.name ?? "";
      assert.ok(world.workloadWrites.slice(before).includes(`PATCH /api/v1/nodes/${name}`));
    }));
});

describe("two voters of etcd", () => {
  test("get nothing without a person's word, and go one after the other with it", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await pair(world);
      await ask(world, "v1.13.10");
      await says(
        world,
        /demo-10\.5\.0\.2 is one of two voters of etcd: .*annotate the TalosControlPlane with talos-operator\.dev\/approve-outage: v1\.13\.10/,
      );
      assert.equal((await pending(world))?.reason, "ApprovalRequired");
      await world.time.advance(600_000);
      assert.equal(world.sent.length, sent, "not even an image is pulled");
      assert.deepEqual(await outages(world), []);
      await approve(world, "v1.13.10");
      await upgraded(world, "v1.13.10", [...two, worker]);
      assert.deepEqual(
        world.sent.slice(sent).filter((call) => call.startsWith("Reboot ")),
        ["Reboot 10.5.0.2", "Reboot 10.5.0.1", `Reboot ${worker}`],
      );
      assert.equal((await outages(world)).length, 2);
      assert.equal(await approval(world), undefined, "it acts for one version");
      world.datacenter.machine("10.5.0.5").setConnected(true);
      await world.untilReady(900);
    }));

  test("are not approved by another word, and that is told", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await pair(world, []);
      await ask(world, "v1.13.10", ["controlPlane"]);
      const words = ["v1.13.11", "v1.13.9", "yes", "1.13", "", "v1.13.10; rm -rf /", `v1.13.10${"0".repeat(300)}`, "<script>"];
      for (const word of words) {
        await approve(world, undefined);
        await says(world, /approve-outage: v1\.13\.10\./);
        await approve(world, word);
        await says(world, /approve-outage: v1\.13\.10 \(it says ".*", which approves nothing of that version\)/);
        assert.ok(((await pending(world))?.message.length ?? 0) < 1_000, word);
        await world.time.advance(60_000);
        assert.equal(world.sent.length, sent, word);
        assert.equal(await approval(world), word, "it stays for who set it");
      }
    }));

  test("a word that is taken back between installation and boot holds the boot", () =>
    tell({ timings: demoTimings }, async (world) => {
      await pair(world, []);
      await approve(world, "v1.13.10");
      await ask(world, "v1.13.10", ["controlPlane"]);
      await world.until("installing", async () => world.sent.includes("Upgrade 10.5.0.2"), 300);
      await approve(world, undefined);
      await says(world, /approve-outage: v1\.13\.10\./);
      await world.time.advance(300_000);
      assert.equal(
        world.sent.some((call) => call.startsWith("Reboot ")),
        false,
      );
      await approve(world, "1.13.10");
      await upgraded(world, "v1.13.10", two);
      assert.equal(world.sent.filter((call) => call === "Upgrade 10.5.0.2").length, 1);
    }));

  test("that is pinned to a version of its own is approved by the version that it asks for, and the word goes when it runs that", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await pair(world, []);
      const machines = [{ address: two[0] }, { address: two[1], version: "v1.13.10" }, { address: "10.5.0.5" }];
      await world.client
        .resource(kinds.cluster)
        .patch(demo, { type: "merge", value: { spec: { controlPlane: { metalSpec: { machines } } } } });
      await says(world, /approve-outage: v1\.13\.10\./);
      await approve(world, "v1.13.9");
      await world.time.advance(300_000);
      assert.deepEqual(world.sent.slice(sent), [], "it names what the others run");
      await approve(world, "v1.13.10");
      await upgraded(world, "v1.13.10", ["10.5.0.2"]);
      assert.deepEqual(world.sent.slice(sent), ["Pull 10.5.0.2", "Upgrade 10.5.0.2", "Reboot 10.5.0.2"]);
      assert.equal(world.datacenter.machine("10.5.0.1").state.hardware.talosVersion, "v1.13.9");
    }));

  test("an edit of the version takes the word back, and what is installed is taken back with a word for that", () =>
    tell({ timings: demoTimings }, async (world) => {
      await pair(world, []);
      await approve(world, "v1.13.10");
      await ask(world, "v1.13.10", ["controlPlane"]);
      await world.until("installing", async () => world.sent.includes("Upgrade 10.5.0.2"), 300);
      await world.kill();
      await world.time.advance(30_000);
      await ask(world, "v1.13.9", ["controlPlane"]);
      await world.start();
      await world.time.advance(300_000);
      assert.equal(
        world.sent.some((call) => /^(Rollback|Reboot) /.test(call)),
        false,
      );
      await approve(world, "v1.13.9");
      await world.until("taken back", async () => world.sent.includes("Rollback 10.5.0.2"), 300);
      await upgraded(world, "v1.13.9", two);
    }));

  test("the other one not being well holds it, whatever is approved", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await pair(world, []);
      world.datacenter.machine("10.5.0.1").setConnected(false);
      await world.time.advance(60_000);
      await approve(world, "v1.13.10");
      await ask(world, "v1.13.10", ["controlPlane"]);
      await world.time.advance(600_000);
      assert.equal(world.sent.length, sent);
      world.datacenter.machine("10.5.0.1").setConnected(true);
      await upgraded(world, "v1.13.10", two);
    }));

  test("one that boots and never gets well is rolled back, and the other one is left alone", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await pair(world, []);
      world.datacenter.setReleaseFault("v1.13.10", { boot: "never-healthy" });
      await approve(world, "v1.13.10");
      await ask(world, "v1.13.10", ["controlPlane"]);
      await world.until("stopped", async () => (await pending(world))?.reason === "VersionFailed", 3_600);
      await world.time.advance(900_000);
      assert.equal(world.datacenter.machine("10.5.0.2").state.kubernetes.isNodeReady, true);
      assert.deepEqual(world.sent.slice(sent), ["Pull 10.5.0.2", "Upgrade 10.5.0.2", "Reboot 10.5.0.2", "Rollback 10.5.0.2"]);
    }));
});

describe("a Talos whose etcd never starts", () => {
  const failed = (world: Story): Promise<void> =>
    world.until("stopped", async () => (await pending(world))?.reason === "VersionFailed", 3_600);
  const isBack = (world: Story, address: string): Promise<void> =>
    world.until("back", async () => versionAt(world, address) === "v1.13.9" && isWell(world, address), 1_200);
  const versionAt = (world: Story, address: string): string => world.datacenter.machine(address).state.hardware.talosVersion;
  const isWell = (world: Story, address: string): boolean => world.datacenter.machine(address).state.kubernetes.isNodeReady;

  test("is rolled back on the only voter, once: nothing of etcd is lost that was still there", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world, ["10.5.0.1"]);
      world.datacenter.setReleaseFault("v1.13.10", { boot: "etcd-fails" });
      await ask(world, "v1.13.10");
      await failed(world);
      await isBack(world, "10.5.0.1");
      await world.time.advance(900_000);
      assert.deepEqual(world.sent.slice(sent), ["Pull 10.5.0.1", "Upgrade 10.5.0.1", "Reboot 10.5.0.1", "Rollback 10.5.0.1"]);
      assert.equal((await world.condition(kinds.controlPlane, "EtcdHealthy"))?.status, "True");
      assert.equal((await pending(world))?.reason, "VersionFailed");
    }));

  test("is rolled back on one of two voters, once, and the other one is left alone", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await pair(world, []);
      world.datacenter.setReleaseFault("v1.13.10", { boot: "etcd-fails" });
      await approve(world, "v1.13.10");
      await ask(world, "v1.13.10", ["controlPlane"]);
      await failed(world);
      await isBack(world, "10.5.0.2");
      await world.time.advance(900_000);
      assert.deepEqual(world.sent.slice(sent), ["Pull 10.5.0.2", "Upgrade 10.5.0.2", "Reboot 10.5.0.2", "Rollback 10.5.0.2"]);
      assert.deepEqual(
        two.filter((address) => !isWell(world, address)),
        [],
      );
    }));

  test("is rolled back on one of two voters, although its word of approval was taken back meanwhile", () =>
    tell({ timings: demoTimings }, async (world) => {
      await pair(world, []);
      world.datacenter.setReleaseFault("v1.13.10", { boot: "etcd-fails" });
      await approve(world, "v1.13.10");
      await ask(world, "v1.13.10", ["controlPlane"]);
      await world.until("booting", async () => world.sent.includes("Reboot 10.5.0.2"), 600);
      await approve(world, undefined);
      await failed(world);
      await isBack(world, "10.5.0.2");
    }));

  test("is rolled back on one of three voters", () =>
    tell({ timings: demoTimings }, async (world) => {
      const sent = await ready(world, [...two, "10.5.0.3"], []);
      world.datacenter.setReleaseFault("v1.13.10", { boot: "etcd-fails" });
      await ask(world, "v1.13.10", ["controlPlane"]);
      await failed(world);
      await isBack(world, "10.5.0.2");
      await world.time.advance(900_000);
      assert.deepEqual(
        world.sent.slice(sent).filter((call) => /^(Upgrade|Reboot|Rollback) /.test(call)),
        ["Upgrade 10.5.0.2", "Reboot 10.5.0.2", "Rollback 10.5.0.2"],
      );
    }));

  test("stays on the only voter where another release of etcd may have raised its data, and the words say that", () =>
    tell({ timings: demoTimings, machines: [1, 4].map((n) => ({ address: `10.5.0.${n}`, talosVersion: "v1.13.9" })) }, async (world) => {
      const sent = await ready(world, ["10.5.0.1"]);
      world.datacenter.setReleaseFault("v1.14.0", { boot: "etcd-fails" });
      await ask(world, "v1.14.0");
      await failed(world);
      await world.time.advance(900_000);
      assert.deepEqual(world.sent.slice(sent), ["Pull 10.5.0.1", "Upgrade 10.5.0.1", "Reboot 10.5.0.1"]);
      assert.match((await pending(world))?.message ?? "", /It is not rolled back: no other member of etcd runs/);
    }));

  test("stays told where the machine that it failed on runs what the spec asks for, and no other is left", () =>
    tell({ timings: demoTimings, machines: [{ address: "10.5.0.1", talosVersion: "v1.13.9" }] }, async (world) => {
      await ready(world, ["10.5.0.1"], []);
      world.datacenter.setReleaseFault("v1.14.0", { boot: "etcd-fails" });
      await ask(world, "v1.14.0", ["controlPlane"]);
      await failed(world);
      await world.time.advance(900_000);
      const { reason, message = "" } = (await pending(world)) ?? {};
      assert.equal(reason, "VersionFailed");
      assert.match(
        message,
        /failed on demo-10\.5\.0\.1 .*, which runs it: .* Repair or replace demo-10\.5\.0\.1, or ask for another version/,
      );
      world.datacenter.setReleaseFault("v1.14.0", undefined);
      world.datacenter.machine("10.5.0.1").powerCycle();
      await world.until("told no more", async () => (await pending(world)) === undefined, 900);
    }));

  const three = [...two, "10.5.0.3"];
  const with13 = { timings: demoTimings, machines: [1, 2, 3, 4].map((n) => ({ address: `10.5.0.${n}`, talosVersion: "v1.13.9" })) };
  /** The leader is the last of three to get another release of etcd, and there it fails. */
  async function lastFails(world: Story, boot: "etcd-fails" | "never-healthy"): Promise<number> {
    const sent = await ready(world, three);
    await ask(world, "v1.14.0");
    await world.until("the last one is installed", async () => world.sent.includes("Upgrade 10.5.0.1"), 900);
    world.datacenter.setReleaseFault("v1.14.0", { boot, machines: ["10.5.0.1"] });
    await failed(world);
    return sent;
  }
  const rollbacks = (world: Story, sent: number): readonly string[] =>
    world.sent.slice(sent).filter((call) => call.startsWith("Rollback "));

  test("is rolled back on the last of three voters: its etcd never ran, and the others tell the data of the older one", () =>
    tell(with13, async (world) => {
      const sent = await lastFails(world, "etcd-fails");
      await isBack(world, "10.5.0.1");
      await world.time.advance(120_000);
      assert.deepEqual(rollbacks(world, sent), ["Rollback 10.5.0.1"]);
      assert.deepEqual(three.map((address) => versionAt(world, address)).toSorted(), ["v1.13.9", "v1.14.0", "v1.14.0"]);
      assert.equal((await world.condition(kinds.controlPlane, "EtcdHealthy"))?.status, "True");
      assert.equal((await pending(world))?.reason, "VersionFailed");
    }));

  test("stays on the last of three voters, where its etcd ran and the others tell data of the newer one", () =>
    tell(with13, async (world) => {
      const sent = await lastFails(world, "never-healthy");
      await world.time.advance(120_000);
      assert.deepEqual(rollbacks(world, sent), []);
      assert.match(
        (await pending(world))?.message ?? "",
        /It is not rolled back: the data of etcd are those of 3\.7, which 3\.6 does not read/,
      );
      assert.equal((await world.condition(kinds.controlPlane, "EtcdHealthy"))?.status, "True");
    }));
});
