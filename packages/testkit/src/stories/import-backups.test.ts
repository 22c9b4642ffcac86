import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import {
  annotations,
  clusterRecordResource,
  etcdBackupResource,
  finalizers,
  findCondition,
  talosEtcdBackupResource,
  talosEtcdBackupScheduleResource,
} from "@talos-operator/api";
import type { ClusterRecord, EtcdBackup, TalosEtcdBackup, TalosEtcdBackupSchedule } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { createSeededRandom } from "@talos-operator/kube-runtime/testing";
import { createMemoryObjectStore } from "../world/memory-object-store.ts";
import type { MemoryObjectStore } from "../world/memory-object-store.ts";
import { withCalls } from "../world/with-calls.ts";
import { createWorkingRunner } from "../world/working-runner.ts";
import type { WorkingRunner } from "../world/working-runner.ts";
import { leaveBehind, leaveObjects } from "./left-behind.ts";
import { leaveComposed } from "./left-composed.ts";
import { kinds, tell } from "./story.ts";
import type { Story } from "./story.ts";

const namespace = "default";
const peer = readFileSync(new URL("../../testdata/peers/talos-alperen-cloud.yaml", import.meta.url), "utf8");

interface Pending {
  readonly world: Story;
  readonly runner: WorkingRunner;
  readonly store: MemoryObjectStore;
  /** Calls of workers to machines, in order: `EtcdSnapshot 10.5.0.1`. */
  readonly calls: readonly string[];
  /** What approves the import. */
  readonly hash: string;
}

/** A story whose workers of backups do their work. */
function tellBackups(story: (parts: Omit<Pending, "hash">) => Promise<void>): Promise<void> {
  let runner: WorkingRunner | undefined;
  const backups = () => {
    if (runner === undefined) throw new Error("the story has not begun");
    return { runner, backupDirectory: "/backups" };
  };
  return tell({ backups }, async (world) => {
    const { clock, timers } = world.time;
    const store = createMemoryObjectStore(clock);
    const calls: string[] = [];
    const dialer = withCalls(world.datacenter.dialer(), ({ channel, address }) => {
      const heard = (path: string): void => void calls.push(`${path.slice(path.lastIndexOf("/") + 1)} ${address}`);
      return {
        unary: (method, request, options) => (heard(method.path), channel.unary(method, request, options)),
        serverStream: (method, request, options) => (heard(method.path), channel.serverStream(method, request, options)),
        upload: (method, requests, options) => (heard(method.path), channel.upload(method, requests, options)),
      };
    });
    runner = createWorkingRunner({ clock, timers, random: createSeededRandom(9), dialer, store });
    await story({ world, runner, store, calls });
  });
}

/** A cluster of others with so many control planes, whose import waits for a person's word: the spec has another CNI than the machines. */
function tellPending(voters: number, story: (pending: Pending) => Promise<void>): Promise<void> {
  return tellBackups(async (parts) => {
    const { world } = parts;
    const addresses = ["10.5.0.1", "10.5.0.2", "10.5.0.3"].slice(0, voters);
    const bundle = await leaveBehind(world, addresses);
    await leaveObjects(world, peer, bundle, (object) =>
      object.kind === "TalosControlPlane"
        ? {
            ...object,
            spec: {
              ...(object["spec"] as object),
              cni: { name: "none" },
              metalSpec: { machines: addresses.map((address) => ({ address })), machineSpec: { installDisk: "/dev/sda" } },
            },
          }
        : object,
    );
    // Ten minutes after the peer's last write it is no neighbour any more.
    await world.time.advance(11 * 60_000);
    await world.start();
    const imported = () => world.condition(kinds.controlPlane, "Imported");
    await world.until("told", async () => (await imported())?.reason === "ApprovalRequired", 120);
    const [, hash = ""] = /import-approve: ([0-9a-f]{10})/.exec((await imported())?.message ?? "") ?? [];
    await story({ ...parts, hash });
  });
}

const ask = (world: Story, name: string, spec: Partial<TalosEtcdBackup["spec"]> = {}): Promise<unknown> =>
  world.client.resource<TalosEtcdBackup>(talosEtcdBackupResource).create({
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosEtcdBackup",
    metadata: { namespace, name },
    spec: { talosControlPlaneRef: { name: "demo" }, backupStorage: { directory: {} }, ...spec },
  });
const read = (world: Story, name: string): Promise<TalosEtcdBackup | undefined> =>
  world.client.resource<TalosEtcdBackup>(talosEtcdBackupResource).tryGet({ namespace, name });
const reason = async (world: Story, name: string, type = "Ready"): Promise<string | undefined> =>
  findCondition((await read(world, name))?.status?.conditions, type)?.reason;
const untilReady = (world: Story, name: string, seconds = 120): Promise<void> =>
  world.until(`${name} is Ready`, async () => (await reason(world, name)) === "BackupSucceeded", seconds);
const recordOf = (world: Story) => world.client.resource<ClusterRecord>(clusterRecordResource).tryGet({ namespace, name: "demo" });

/** Everything of the cluster that is stored, but for what statuses say. */
async function objectsOf(world: Story): Promise<unknown> {
  const types = [kinds.cluster, kinds.controlPlane, kinds.worker, kinds.machine, kinds.record, kinds.secret];
  const lists = await Promise.all(types.map((type) => world.client.resource<KubeObject & Record<string, unknown>>(type).list()));
  return lists.map(({ items }) =>
    items.map(({ status: _told, metadata, ...rest }) => {
      const { resourceVersion: _version, managedFields: _managers, ...own } = metadata ?? {};
      return [own, rest];
    }),
  );
}

/** Writes of the operator to anything but backups, statuses and events. */
const writesBeside = (world: Story, from: number): readonly string[] =>
  world.writes.slice(from).filter((write) => !/backups?(schedules)?\/|backups?(schedules)?$|\/status$|\/events/.test(write));

describe("a backup of a cluster whose import is pending", () => {
  for (const voters of [1, 3])
    it(`is taken by reading alone, with ${voters} voter${voters === 1 ? "" : "s"}`, () =>
      tellPending(voters, async ({ world, runner, calls, store }) => {
        const before = await objectsOf(world);
        const writes = world.writes.length;
        const sent = world.sent.length;
        await ask(world, "first");
        await ask(world, "second");
        await untilReady(world, "first");
        await untilReady(world, "second");
        await world.time.advance(600_000);
        assert.deepEqual(world.sent.slice(sent), [], "nothing is sent to machines");
        assert.deepEqual(writesBeside(world, writes), [], "nothing is written to the cluster's objects");
        assert.deepEqual(await objectsOf(world), before);
        assert.equal(await recordOf(world), undefined);
        // How its etcd is, and the snapshot; two times.
        const reads = ["EtcdStatus", "EtcdAlarmList", "EtcdSnapshot"];
        assert.deepEqual(
          calls.map((call) => call.split(" ")[0]),
          [...reads, ...reads],
        );
        assert.equal((await read(world, "first"))?.status?.talosVersion, "v1.13.9");
        assert.ok(runner.begun.every(({ secrets }) => secrets.clusterKeys === undefined));
        assert.ok([...store.contents().keys()].some((key) => key.endsWith(".json")));
        assert.equal((await world.condition(kinds.controlPlane, "Imported"))?.reason, "ApprovalRequired");
      }));

  it("stays where it is when the import is approved in the middle: the record says so from then on, and it is proved and removed as any other", () =>
    tellPending(3, async ({ world, runner, store, hash }) => {
      await ask(world, "early", { deletionPolicy: "delete" });
      await untilReady(world, "early");
      runner.hold(true);
      await ask(world, "during");
      await world.until("it runs", async () => (await reason(world, "during")) === "BackupInProgress" && runner.begun.length === 2, 60);
      await world.annotate(kinds.controlPlane, annotations.importApprove, hash);
      await world.until("taken over", async () => (await recordOf(world)) !== undefined, 60);
      const [, run] = runner.begun;
      await world.until("it is claimed", async () => (await recordOf(world))?.spec.snapshot?.run === run?.name, 10);
      runner.hold(false);
      await untilReady(world, "during");
      await world.until("the claim is gone", async () => (await recordOf(world))?.spec.snapshot === undefined, 30);
      await ask(world, "late");
      await untilReady(world, "late");
      const folders = new Set(
        [...store.contents().keys()].filter((key) => key.endsWith(".json")).map((key) => key.slice(0, key.lastIndexOf("/"))),
      );
      assert.equal(folders.size, 1, "one place before and after");
      const backups = world.client.resource<TalosEtcdBackup>(talosEtcdBackupResource);
      await backups.patch(
        { namespace, name: "early" },
        { type: "merge", value: { metadata: { annotations: { [annotations.proveNow]: "now" } } } },
      );
      await world.until(
        "it is proved by the keys of the record",
        async () => (await read(world, "early"))?.status?.provedNow === "now",
        120,
      );
      assert.equal(await reason(world, "early", "Proved"), "ReadOnly");
      const { filename = "" } = (await read(world, "early"))?.status ?? {};
      await backups.delete({ namespace, name: "early" });
      await world.until("it is gone", async () => (await read(world, "early")) === undefined, 120);
      assert.equal(store.contents().has(filename), false);
    }));

  it("is removed from the store with its object, also by a process that has not looked yet", () =>
    tellPending(1, async ({ world, store }) => {
      await ask(world, "first", { deletionPolicy: "delete" });
      await untilReady(world, "first");
      const { filename = "" } = (await read(world, "first"))?.status ?? {};
      assert.equal(store.contents().has(filename), true);
      assert.deepEqual((await read(world, "first"))?.metadata.finalizers, [finalizers.talosEtcdBackup]);
      await world.stop();
      await world.client.resource(talosEtcdBackupResource).delete({ namespace, name: "first" });
      await world.start();
      await world.until("it is gone", async () => (await read(world, "first")) === undefined, 120);
      assert.equal(store.contents().has(filename), false);
      assert.equal(await recordOf(world), undefined);
    }));

  it("has the keys that were found, for its recipients alone", () =>
    tellPending(1, async ({ world, runner }) => {
      const recipients = ["age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"];
      await ask(world, "first", { encryption: { recipients } });
      await untilReady(world, "first");
      assert.equal(await reason(world, "first", "KeysNotBackedUp"), undefined);
      assert.ok((await read(world, "first"))?.status?.stateFilename !== undefined);
      const keys = runner.begun[0]?.secrets.clusterKeys;
      assert.match(keys?.bundle ?? "", /^cluster:/m);
      assert.equal(keys?.record, undefined);
    }));

  it("is not taken where two places hold different keys, nor with keys that its machines do not hold", () =>
    tellPending(1, async ({ world, runner }) => {
      const state = { namespace, name: "demo-state" };
      const secrets = world.client.resource<KubeObject & { readonly data?: Record<string, string> }>(kinds.secret);
      const data = (await secrets.get(state)).data ?? {};
      await secrets.patch(state, { type: "merge", value: { data: { secretBundle: Buffer.from("no: bundle\n").toString("base64") } } });
      await world.time.advance(30_000);
      await ask(world, "first");
      await world.until("it waits", async () => (await reason(world, "first")) === "ControlPlaneNotFound", 60);
      const ready = findCondition((await read(world, "first"))?.status?.conditions, "Ready");
      assert.match(
        ready?.message ?? "",
        /^The import of TalosControlPlane demo is pending\. Secret demo-state: its key secretBundle is no whole/,
      );
      assert.equal(runner.begun.length, 0);
      await secrets.patch(state, { type: "merge", value: { data } });
      await untilReady(world, "first");
    }));

  it("is taken by the schedule that asks for it, which keeps as many as it is to", () =>
    tellPending(3, async ({ world }) => {
      await world.client.resource<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource).create({
        apiVersion: "talos.alperen.cloud/v1alpha1",
        kind: "TalosEtcdBackupSchedule",
        metadata: { namespace, name: "often" },
        spec: {
          schedule: "*/10 * * * *",
          timeZone: "UTC",
          retention: 2,
          backupTemplate: { spec: { talosControlPlaneRef: { name: "demo" }, backupStorage: { directory: {} }, deletionPolicy: "delete" } },
        },
      });
      const taken: Set<string> = new Set();
      await world.until(
        "four were taken, and two are kept",
        async () => {
          const { items } = await world.client.resource<TalosEtcdBackup>(talosEtcdBackupResource).list({ namespace });
          const own = items.filter(({ metadata }) => metadata.ownerReferences?.[0]?.name === "often");
          for (const { metadata, status } of own) if (status?.filename !== undefined) taken.add(metadata.name);
          return taken.size >= 4 && own.length === 2;
        },
        3_600,
      );
      assert.equal(await recordOf(world), undefined);
    }));

  it("is taken while it is paused, too", () =>
    tellPending(1, async ({ world }) => {
      const writes = world.writes.length;
      await world.annotate(kinds.controlPlane, annotations.reconcileMode, "disable");
      await world.until("it is paused", async () => (await world.condition(kinds.controlPlane, "Paused"))?.status === "True", 60);
      await ask(world, "first");
      await untilReady(world, "first");
      assert.deepEqual(writesBeside(world, writes), []);
      assert.equal(await recordOf(world), undefined);
    }));

  it("is taken for an EtcdBackup of a KubernetesCluster that another operator made", () =>
    tellBackups(async ({ world }) => {
      const bundle = await leaveBehind(world);
      await leaveComposed(world, bundle);
      await world.time.advance(11 * 60_000);
      await world.start();
      await world.until("told", async () => (await world.condition(kinds.controlPlane, "Imported"))?.reason === "ApprovalRequired", 300);
      const sent = world.sent.length;
      const published = world.client.resource<EtcdBackup>(etcdBackupResource);
      await published.create({
        apiVersion: "vitistack.io/v1alpha1",
        kind: "EtcdBackup",
        metadata: { namespace, name: "one" },
        spec: { clusterName: "demo", storageLocation: { type: "local", path: "south" } },
      });
      await world.until(
        "it is Completed",
        async () => (await published.get({ namespace, name: "one" })).status?.phase === "Completed",
        300,
      );
      assert.deepEqual([await recordOf(world), world.sent.slice(sent)], [undefined, []]);
    }));
});
