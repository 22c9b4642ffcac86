import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations, clusterRecordResource, labels, talosEtcdBackupResource, talosEtcdBackupScheduleResource } from "@talos-operator/api";
import type { ClusterRecord, TalosCluster, TalosEtcdBackup, TalosEtcdBackupSchedule } from "@talos-operator/api";
import { printPlan, whatIf } from "@talos-operator/operator";
import { createSeededRandom } from "@talos-operator/kube-runtime/testing";
import type { KubeRequest, KubeTransport, ObjectStore, StoredObject } from "@talos-operator/ports";
import { realisticTimings } from "@talos-operator/simulator";
import { createMemoryObjectStore } from "../world/memory-object-store.ts";
import { createWorkingRunner } from "../world/working-runner.ts";
import type { WorkingRunner } from "../world/working-runner.ts";
import { createScriptedRunner, takenBy } from "../world/scripted-runner.ts";
import type { ScriptedRunner } from "../world/scripted-runner.ts";
import { demoCluster, kinds, tell } from "./story.ts";
import type { Story, StoryOptions } from "./story.ts";

const namespace = "default";
const at = (...numbers: readonly number[]): readonly string[] => numbers.map((n) => `10.5.0.${n}`);
const nameOf = (n: number): string => `demo-10.5.0.${n}`;
const machines = at(1, 2, 3, 4, 5).map((address) => ({ address }));

/** How the store is: `well` and `failed` end what runs, `slow` lets it run. */
type Store = "well" | "failed" | "slow";

interface Told {
  readonly world: Story;
  readonly runner: ScriptedRunner;
  /** The store from now on. */
  store: Store;
}

/** A cluster of five control planes, and a store whose workers end as it is. */
function tellRemoval(story: (told: Told) => Promise<void>, options: Partial<StoryOptions> = {}, size = 5): Promise<void> {
  let runner: ScriptedRunner | undefined;
  const backups = () => {
    if (runner === undefined) throw new Error("the story has not begun");
    return { runner, backupDirectory: "/backups" };
  };
  return tell({ machines, backups, ...options }, async (world) => {
    runner = createScriptedRunner(world.time.clock);
    const told: Told = { world, runner, store: "well" };
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(at(1, 2, 3, 4, 5).slice(0, size)));
    await world.start();
    await world.untilReady();
    await story(told);
  });
}

const schedule = (world: Story, name: string, spec: Partial<TalosEtcdBackupSchedule["spec"]> = {}): Promise<unknown> =>
  world.client.resource<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource).create({
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosEtcdBackupSchedule",
    metadata: { namespace, name },
    spec: {
      schedule: "0 0 1 1 *",
      backupTemplate: { spec: { talosControlPlaneRef: { name: "demo" }, backupStorage: { directory: { path: name } } } },
      ...spec,
    },
  });

const list = (world: Story, ...numbers: readonly number[]): Promise<unknown> => {
  const spec = { controlPlane: { metalSpec: { machines: at(...numbers).map((address) => ({ address })) } } };
  return world.client.resource(kinds.cluster).patch({ namespace, name: "demo" }, { type: "merge", value: { spec } });
};
const word = (world: Story, value: string | undefined, kind = kinds.controlPlane): Promise<void> =>
  world.annotate(kind, annotations.snapshotBeforeRisk, value);

/** TalosEtcdBackups that were made before a risk, oldest first. */
async function made(world: Story): Promise<readonly TalosEtcdBackup[]> {
  const { items } = await world.client.resource<TalosEtcdBackup>(talosEtcdBackupResource).list({ namespace });
  return items
    .filter(({ metadata }) => metadata.labels?.[labels.beforeRisk] === "demo")
    .toSorted((a, b) => ((a.metadata.creationTimestamp ?? "") < (b.metadata.creationTimestamp ?? "") ? -1 : 1));
}

const isCreation = ({ method, path }: KubeRequest): boolean => method === "POST" && path.endsWith("/talosetcdbackups");
const resets = ({ effects }: Story): readonly string[] => effects.flatMap((effect) => /^Reset (.*)$/.exec(effect)?.[1] ?? []);
const risk = (world: Story) => world.condition(kinds.controlPlane, "SnapshotBeforeRisk");
const removing = (world: Story) => world.condition(kinds.controlPlane, "Removing");

/** Lets the workers end as the store is. */
async function work({ world, runner, store }: Told): Promise<void> {
  if (store === "slow") return;
  for (const run of runner.begun)
    if ((await runner.look(run.name)).kind === "running")
      runner.end(run.name, store === "well" ? takenBy(run, world.time.clock.now()) : undefined);
}

/** Until it holds, while workers end as the store is. */
async function until(told: Told, what: string, holds: () => Promise<boolean>, seconds = 900): Promise<void> {
  await told.world.until(
    what,
    async () => {
      await work(told);
      return holds();
    },
    seconds,
  );
}

/** Until these alone are etcd, and nothing is on its way out. */
const left = (told: Told, ...numbers: readonly number[]): Promise<void> =>
  until(told, `etcd is ${numbers.join()}`, async () => {
    const [etcd] = told.world.datacenter.etcdClusters();
    const members = (etcd?.members ?? []).map(({ peerUrl }) => new URL(peerUrl).hostname).toSorted();
    return members.join() === at(...numbers).join() && (await removing(told.world)) === undefined;
  });

describe("before control planes that run leave", () => {
  test("one snapshot is taken, for two that leave one after another, and nobody is disturbed before it is stored", () =>
    tellRemoval(async (told) => {
      const { world, runner } = told;
      await schedule(world, "nightly");
      told.store = "slow";
      await list(world, 1, 2, 3);
      await until(told, "it runs", async () => runner.begun.length === 1, 120);
      assert.equal((await risk(world))?.reason, "SnapshotAwaited");
      assert.equal((await removing(world))?.reason, "WaitingForSnapshot");
      await world.time.advance(60_000);
      assert.deepEqual(resets(world), []);
      told.store = "well";
      await left(told, 1, 2, 3);
      assert.deepEqual(resets(world).toSorted(), at(4, 5));
      const [backup, ...more] = await made(world);
      assert.deepEqual([more.length, runner.begun.length], [0, 1]);
      assert.equal(backup?.metadata.annotations?.[annotations.takenBefore], `${nameOf(4)},${nameOf(5)}`);
      assert.deepEqual(backup.spec.backupStorage, { directory: { path: "nightly" } });
      assert.equal(backup.metadata.ownerReferences?.[0]?.name, "nightly");
      assert.equal(await risk(world), undefined, "nothing is at risk any more");
    }));

  test("a snapshot of the schedule that is fresh serves the first that leaves, and one before the change that this is serves no more", () =>
    tellRemoval(
      async (told) => {
        const { world, runner } = told;
        // What is configured may join for an hour.
        await world.time.advance(61 * 60_000);
        await schedule(world, "often", { schedule: "*/30 * * * *" });
        const backups = world.client.resource<TalosEtcdBackup>(talosEtcdBackupResource);
        const isTaken = async () => (await backups.list({ namespace })).items.some(({ status }) => status?.filename !== undefined);
        await until(told, "one was taken", isTaken, 1_900);
        await list(world, 1, 2, 3);
        await until(told, "the first leaves", async () => resets(world).length > 0, 300);
        assert.deepEqual([(await made(world)).length, runner.begun.length], [0, 1]);
        await left(told, 1, 2, 3);
        assert.equal((await made(world)).length, 1);
      },
      { timings: realisticTimings },
    ));

  test("with `required` and a store that fails they wait, it is said why, and they leave when the store is back", () =>
    tellRemoval(async (told) => {
      const { world } = told;
      await schedule(world, "nightly");
      // Said of the TalosCluster that makes the control plane.
      await word(world, "Required", kinds.cluster);
      told.store = "failed";
      await list(world, 1, 2, 3);
      await until(told, "it is said", async () => (await risk(world))?.reason === "StoreFails", 900);
      const [first] = await made(world);
      assert.match((await risk(world))?.message ?? "", new RegExp(`required.*${nameOf(4)}.*${first?.metadata.name ?? "-"}: `));
      await until(told, "the removal says so", async () => (await removing(world))?.reason === "WaitingForSnapshot", 60);
      await until(told, "it is asked for anew", async () => (await made(world)).length > 1, 900);
      assert.deepEqual(resets(world), []);
      told.store = "well";
      await left(told, 1, 2, 3);
      assert.deepEqual(resets(world).toSorted(), at(4, 5));
      assert.equal((await made(world)).filter(({ status }) => status?.filename !== undefined).length, 1);
    }));

  test("with a store that fails they leave after one retry by default, and what was decided names it", () =>
    tellRemoval(async (told) => {
      const { world, runner } = told;
      await schedule(world, "nightly");
      told.store = "failed";
      await list(world, 1, 2, 3);
      await left(told, 1, 2, 3);
      const [backup] = await made(world);
      assert.equal(runner.begun.length, 2, "the first and one retry");
      const { spec } = await world.client.resource<ClusterRecord>(clusterRecordResource).get({ namespace, name: "demo" });
      const { decisions } = spec;
      const said = new RegExp(`leave without a snapshot of etcd: ${nameOf(4)}, ${nameOf(5)}\\. ${backup?.metadata.name ?? "-"}: `);
      assert.match(decisions?.find(({ action }) => action === "Reset")?.message ?? "", said);
      assert.equal((await made(world)).length, 1);
    }));

  test("one that cannot even be begun is waited for ten minutes at most by default", () =>
    tellRemoval(async (told) => {
      const { world, runner } = told;
      const key = (name: string) => ({ name: "none", key: name });
      const s3 = { bucket: "etcd-backups", region: "eu-central-1", accessKeyID: key("id"), secretAccessKey: key("secret") };
      await schedule(world, "far", { backupTemplate: { spec: { clusterRef: { name: "demo" }, backupStorage: { s3 } } } });
      await list(world, 1, 2, 3);
      await world.time.advance(540_000);
      assert.equal((await risk(world))?.reason, "SnapshotAwaited");
      assert.deepEqual(resets(world), []);
      await left(told, 1, 2, 3);
      assert.equal(runner.begun.length, 0);
    }));

  for (const [what, policy, prepare, reason] of [
    ["without a schedule none is taken", undefined, undefined, "NoStore"],
    ["with a schedule that is paused none is taken", undefined, { paused: true }, "NoStore"],
    ["with `off` none is taken", "off", {}, "SwitchedOff"],
  ] as const)
    test(`${what}, and it is said`, () =>
      tellRemoval(
        async (told) => {
          const { world, runner } = told;
          if (prepare !== undefined) await schedule(world, "nightly", prepare);
          if (policy !== undefined) await word(world, policy);
          await list(world, 1, 2, 3);
          await until(told, "it is said", async () => (await risk(world))?.reason === reason, 60);
          await left(told, 1, 2, 3);
          assert.deepEqual([runner.begun.length, (await made(world)).length], [0, 0]);
        },
        { timings: realisticTimings },
      ));

  test("the first schedule by name that is not paused gives its store", () =>
    tellRemoval(async (told) => {
      const { world } = told;
      await schedule(world, "a", { paused: true });
      await schedule(world, "c");
      await schedule(world, "b");
      await list(world, 1, 2, 3);
      await left(told, 1, 2, 3);
      assert.deepEqual(
        (await made(world)).map(({ spec }) => spec.backupStorage.directory?.path),
        ["b"],
      );
    }));

  test("with `required` and no store they wait for a schedule, and an unknown word counts as that until it is corrected", () =>
    tellRemoval(async (told) => {
      const { world } = told;
      await word(world, "requierd");
      await until(told, "it is said at rest", async () => (await risk(world))?.reason === "WordUnknown", 60);
      await list(world, 1, 2, 3);
      await until(told, "they wait", async () => (await removing(world))?.reason === "WaitingForSnapshot", 60);
      assert.match(
        (await risk(world))?.message ?? "",
        /"requierd", which is no known value .* counts as required.* no TalosEtcdBackupSchedule names this cluster/,
      );
      await word(world, "required");
      await until(told, "it is known", async () => (await risk(world))?.reason === "StoreMissing", 60);
      await world.time.advance(300_000);
      assert.deepEqual(resets(world), []);
      await schedule(world, "nightly");
      await left(told, 1, 2, 3);
      assert.equal((await made(world)).length, 1);
    }));

  test("a dead one is replaced without waiting, whatever is required and whatever becomes of the store", () =>
    tellRemoval(
      async (told) => {
        const { world, runner } = told;
        await word(world, "required");
        world.datacenter.machine("10.5.0.3").powerOff();
        await list(world, 1, 2, 4);
        await until(told, "the dead one's place is taken", async () => {
          const [etcd] = world.datacenter.etcdClusters();
          return (
            (etcd?.members ?? [])
              .map(({ peerUrl }) => new URL(peerUrl).hostname)
              .toSorted()
              .join() === at(1, 2, 4).join()
          );
        });
        assert.deepEqual([runner.begun.length, (await made(world)).length], [0, 0]);
        assert.equal(await risk(world), undefined);
      },
      {},
      3,
    ));

  for (const moment of ["before it arrives", "before its answer comes back"] as const)
    test(`an operator that dies with its creation ${moment} is followed by one that makes or finds it: one is made, and one is taken`, () => {
      let hasDied = false;
      const kube = (real: KubeTransport): KubeTransport => ({
        ...real,
        send: async (request, options) => {
          if (hasDied || !isCreation(request)) return real.send(request, options);
          hasDied = true;
          if (moment === "before its answer comes back") await real.send(request, options);
          return new Promise(() => undefined);
        },
      });
      return tellRemoval(
        async (told) => {
          const { world, runner } = told;
          await schedule(world, "nightly");
          await list(world, 1, 2, 3);
          await until(told, "it died", async () => Promise.resolve(hasDied), 120);
          await world.kill();
          assert.equal((await made(world)).length, moment === "before it arrives" ? 0 : 1);
          await world.time.advance(90_000);
          await world.start();
          await left(told, 1, 2, 3);
          assert.deepEqual([(await made(world)).length, runner.begun.length], [1, 1]);
        },
        { kube },
      );
    });

  test("one that the API server refuses is asked for once more, and then they leave without it", () => {
    let refusals = 0;
    const refusal = { code: 403, reason: "Forbidden", message: "exceeded quota" };
    const kube = (real: KubeTransport): KubeTransport => ({
      ...real,
      send: async (request, options) => {
        if (!isCreation(request)) return real.send(request, options);
        refusals += 1;
        return { status: 403, headers: {}, body: { kind: "Status", apiVersion: "v1", status: "Failure", ...refusal } };
      },
    });
    return tellRemoval(
      async (told) => {
        const { world } = told;
        await schedule(world, "nightly");
        await list(world, 1, 2, 3);
        await until(told, "it is said", async () => (await risk(world))?.reason === "WentOnWithout", 120);
        assert.match((await risk(world))?.message ?? "", /The API server refuses TalosEtcdBackup nightly-before-risk-.*exceeded quota/);
        await left(told, 1, 2, 3);
        assert.equal(refusals, 2);
      },
      { kube, timings: realisticTimings },
    );
  });

  test("the plan shows it, once, before the first that leaves", () =>
    tellRemoval(async ({ world }) => {
      await schedule(world, "nightly");
      const hosts = { allowLoopback: false };
      const [found] = await whatIf([demoCluster(at(1, 2, 3))], { client: world.client, now: world.time.now(), hosts });
      assert.ok(found !== undefined);
      const steps = found.plan.steps.map(({ action }) => action);
      const text = printPlan(found.plan);
      assert.equal(steps.filter((action) => action === "TakeSnapshot").length, 1, text);
      assert.ok(steps.indexOf("TakeSnapshot") < steps.indexOf("ResetMachine"), text);
      assert.match(text, /Take a snapshot of etcd with the store of TalosEtcdBackupSchedule nightly, before these leave: .*4, .*5\./);
    }));

  test("a cluster that is deleted takes none", () =>
    tellRemoval(async (told) => {
      const { world, runner } = told;
      await schedule(world, "nightly");
      await word(world, "required");
      await world.client.resource(kinds.cluster).delete({ namespace, name: "demo" });
      await until(told, "it is gone", async () => (await world.get(kinds.cluster)) === undefined);
      assert.deepEqual([runner.begun.length, (await made(world)).length], [0, 0]);
    }));
});

describe("before control planes that run get another Talos", () => {
  const asked = (world: Story): Promise<unknown> =>
    world.client
      .resource(kinds.cluster)
      .patch({ namespace, name: "demo" }, { type: "merge", value: { spec: { controlPlane: { version: "v1.13.10" } } } });
  const versions = ({ datacenter }: Story): string =>
    at(1, 2, 3)
      .map((address) => datacenter.machine(address).state.hardware.talosVersion)
      .join();
  const upgraded = (told: Told): Promise<void> =>
    until(told, "upgraded", async () => versions(told.world) === "v1.13.10,v1.13.10,v1.13.10", 3_600);

  test("with `required` and a store that fails they wait, it is said why, and they are upgraded when the store is back: one snapshot for all", () =>
    tellRemoval(
      async (told) => {
        const { world } = told;
        await schedule(world, "nightly");
        await word(world, "required");
        told.store = "failed";
        const sent = world.sent.length;
        await asked(world);
        await until(told, "it is said", async () => (await risk(world))?.reason === "StoreFails", 900);
        assert.match(
          (await risk(world))?.message ?? "",
          /required before these are upgraded, and could not be taken.*nightly-before-risk-/,
        );
        assert.deepEqual(
          world.sent.slice(sent).filter((call) => !call.startsWith("Pull")),
          [],
        );
        told.store = "well";
        await upgraded(told);
        assert.equal((await made(world)).filter(({ status }) => status?.filename !== undefined).length, 1);
        await until(told, "nothing is at risk any more", async () => (await risk(world)) === undefined, 120);
      },
      {},
      3,
    ));

  test("with a store that fails they are upgraded after one retry by default; a condition and the record name it", () =>
    tellRemoval(
      async (told) => {
        const { world, runner } = told;
        await schedule(world, "nightly");
        told.store = "failed";
        await asked(world);
        await until(told, "it is said", async () => (await risk(world))?.reason === "WentOnWithout", 900);
        assert.equal(runner.begun.length, 2, "the first and one retry");
        await upgraded(told);
        const { spec } = await world.client.resource<ClusterRecord>(clusterRecordResource).get({ namespace, name: "demo" });
        assert.match(
          spec.decisions?.find(({ action }) => action === "InstallTalos")?.message ?? "",
          /are upgraded without a snapshot of etcd.*nightly-before-risk-/,
        );
      },
      {},
      3,
    ));

  test("the plan shows it, once, before anything is installed", () =>
    tellRemoval(
      async ({ world }) => {
        await schedule(world, "nightly");
        const edited = demoCluster(at(1, 2, 3), [], { version: "v1.13.10" });
        const [found] = await whatIf([edited], { client: world.client, now: world.time.now(), hosts: { allowLoopback: false } });
        assert.ok(found !== undefined);
        const steps = found.plan.steps.map(({ action }) => action);
        const text = printPlan(found.plan);
        assert.equal(steps.filter((action) => action === "TakeSnapshot").length, 1, text);
        assert.ok(steps.indexOf("TakeSnapshot") < steps.indexOf("InstallTalos"), text);
        assert.match(
          text,
          /Take a snapshot of etcd with the store of TalosEtcdBackupSchedule nightly, before these are upgraded: .*1, .*2, .*3\./,
        );
      },
      {},
      3,
    ));
});

test("a store that takes a snapshot and loses it is none: with `required` nobody leaves before it keeps one, and it is said why", () => {
  let runner: WorkingRunner | undefined;
  const backups = () => {
    if (runner === undefined) throw new Error("the story has not begun");
    return { runner, backupDirectory: "/backups" };
  };
  return tell({ machines, backups }, async (world) => {
    const { clock, timers } = world.time;
    const bucket = createMemoryObjectStore(clock);
    let loses = true;
    const store: ObjectStore = {
      ...bucket,
      async createUpload(key) {
        const upload = await bucket.createUpload(key);
        const complete = async (): Promise<StoredObject> => {
          const stored = await upload.complete();
          if (loses) bucket.lose(key);
          return stored;
        };
        return { ...upload, complete };
      },
    };
    runner = createWorkingRunner({ clock, timers, random: createSeededRandom(9), dialer: world.datacenter.dialer(), store });
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(at(1, 2, 3, 4, 5)));
    await world.start();
    await world.untilReady();
    await schedule(world, "nightly");
    await word(world, "required", kinds.cluster);
    await list(world, 1, 2, 3);
    await world.until("it is said", async () => (await risk(world))?.reason === "StoreFails", 900);
    await world.time.advance(20 * 60_000);
    assert.deepEqual(resets(world), []);
    assert.ok((await made(world)).every(({ status }) => status?.filename === undefined));
    loses = false;
    await world.until("the others left", async () => world.datacenter.etcdClusters()[0]?.members.length === 3, 1_800);
    assert.deepEqual(resets(world).toSorted(), at(4, 5));
  });
});
