import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import {
  annotations,
  clusterRecordResource,
  crds,
  findCondition,
  finalizers,
  talosClusterResource,
  talosControlPlaneResource,
  talosEtcdBackupResource,
  talosEtcdBackupScheduleResource,
} from "@talos-operator/api";
import type { ClusterRecord, TalosCluster, TalosControlPlane, TalosEtcdBackup, TalosEtcdBackupSchedule } from "@talos-operator/api";
import { createApiServer, createMemoryStore } from "@talos-operator/apiserver";
import { createKubeClient, createMetricsRegistry, eventType } from "@talos-operator/kube-runtime";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { createSeededRandom, createVirtualTime } from "@talos-operator/kube-runtime/testing";
import { createOperator } from "@talos-operator/operator";
import type { Operator, BackupRunRequest } from "@talos-operator/operator";
import type { Logger } from "@talos-operator/ports";
import { createDatacenter, realisticTimings } from "@talos-operator/simulator";
import { crdType, secretType } from "../world/kinds.ts";
import { createScriptedRunner, takenBy } from "../world/scripted-runner.ts";
import { createSilentWorkloads } from "../world/workloads.ts";
import { createValueKeys } from "../world/value-keys.ts";

const namespace = "default";
const logged: string[] = [];
const write = (...words: readonly unknown[]): void => void logged.push(JSON.stringify(words));
const log: Logger = { debug: write, info: write, warn: write, error: write, child: () => log };

describe("backups of a cluster with three control planes", async () => {
  const time = createVirtualTime();
  const ports = { clock: time.clock, timers: time.timers };
  const keys = createValueKeys(createSeededRandom(1));
  const api = await createApiServer({ store: createMemoryStore(), ...ports, random: createSeededRandom(2) });
  const kube = api.transport({ name: "admin", groups: ["system:masters"] });
  const client = createKubeClient(kube);
  const backups = client.resource<TalosEtcdBackup>(talosEtcdBackupResource);
  const runner = createScriptedRunner(time.clock);
  const addresses = ["10.5.0.1", "10.5.0.2", "10.5.0.3"];
  const datacenter = createDatacenter({
    ...ports,
    random: createSeededRandom(3),
    keys,
    machines: addresses.map((address) => ({ address, talosVersion: "v1.13.9" })),
    timings: realisticTimings,
    workload: createSilentWorkloads({ ...ports, random: createSeededRandom(4) }),
  });
  const metrics = createMetricsRegistry();
  const seriesOf = (name: string): readonly string[] =>
    metrics
      .text()
      .split("\n")
      .filter((line) => line.startsWith(`${name}{`));
  let stop = new AbortController();
  let running: Promise<void> | undefined;
  let lives = 0;

  const begin = (): Operator => {
    stop = new AbortController();
    lives += 1;
    const operator = createOperator({
      kube,
      talos: datacenter.dialer(),
      ...ports,
      random: createSeededRandom(10 + lives),
      keys,
      log,
      metrics,
      backups: { runner, backupDirectory: "/backups" },
      options: { identity: `test-${lives}`, leaderElection: false },
    });
    running = operator.run(stop.signal);
    return operator;
  };
  const end = async (): Promise<void> => {
    stop.abort();
    await time.runUntil(() => false, 30_000);
    await running;
  };
  const until = async (what: string, holds: () => Promise<boolean>, seconds = 1_800): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      if (await holds()) return;
      await time.advance(1_000);
    }
    assert.fail(`not within ${seconds} s: ${what}`);
  };
  const read = (name: string): Promise<TalosEtcdBackup | undefined> => backups.tryGet({ namespace, name });
  const reason = async (name: string, type = "Ready"): Promise<string | undefined> =>
    findCondition((await read(name))?.status?.conditions, type)?.reason;
  const eventsOf = async (name: string): Promise<readonly string[]> => {
    const { items } = await client
      .resource<KubeObject & { readonly reason?: string; readonly regarding?: { readonly name?: string } }>(eventType)
      .list({ namespace });
    return items.filter(({ regarding }) => regarding?.name === name).map((event) => event.reason ?? "");
  };
  const claim = async () => (await client.resource<ClusterRecord>(clusterRecordResource).get({ namespace, name: "demo" })).spec.snapshot;
  const ask = (name: string, spec: Partial<TalosEtcdBackup["spec"]> = {}): Promise<unknown> =>
    backups.create({
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosEtcdBackup",
      metadata: { namespace, name },
      spec: { clusterRef: { name: "demo" }, backupStorage: { directory: {} }, ...spec },
    });
  const runsOf = (name: string): readonly BackupRunRequest[] => runner.begun.filter(({ owner }) => owner.name === name);
  const begun = async (name: string, count = 1): Promise<BackupRunRequest> => {
    await until(`${count} run(s) of ${name}`, async () => runsOf(name).length >= count, 120);
    const run = runsOf(name)[count - 1];
    assert.ok(run !== undefined);
    return run;
  };

  before(async () => {
    for (const crd of crds) await client.resource(crdType).create(crd);
    await client.resource<TalosCluster>(talosClusterResource).create({
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosCluster",
      metadata: { namespace, name: "demo" },
      spec: {
        controlPlane: {
          version: "v1.13.9",
          kubeVersion: "v1.36.3",
          mode: "metal",
          endpoint: "https://10.5.0.100:6443",
          metalSpec: { machines: addresses.map((address) => ({ address })), machineSpec: { installDisk: "/dev/sda" } },
        },
      },
    });
    begin();
    await until("the cluster is ready", async () => {
      const cluster = await client.resource<TalosCluster>(talosClusterResource).get({ namespace, name: "demo" });
      return findCondition(cluster.status?.conditions, "Ready")?.status === "True";
    });
  });
  after(async () => {
    await end();
    await datacenter.close();
    api.close();
  });

  test("one is taken under a claim that ends with it, and its status says what the worker told", async () => {
    await ask("first");
    const run = await begun("first");
    assert.equal(run.task.kind, "take");
    assert.equal((await claim())?.run, run.name);
    assert.equal((await read("first"))?.status?.run?.name, run.name);
    runner.end(run.name, takenBy(run, time.clock.now()));
    await until("Ready", async () => (await reason("first")) === "BackupSucceeded", 30);
    await until("the claim is gone", async () => (await claim()) === undefined, 30);
    const { status } = (await read("first")) ?? {};
    assert.deepEqual([status?.revision, status?.size, status?.proof?.how, status?.run], [77, 20_512, "ReadOnly", undefined]);
    assert.deepEqual(await runner.list(), []);
    assert.equal(await reason("first", "Stalled"), undefined);
    assert.deepEqual((await eventsOf("first")).toSorted(), ["BackupStarted", "BackupSucceeded"], "each is told once");
  });

  test("one of the longest name that an object can have is Ready, under a shorter name in the store", async () => {
    const name = `${"a-name-that-is-long.".repeat(12)}${"x".repeat(13)}`;
    assert.equal(name.length, 253);
    await ask(name);
    const run = await begun(name);
    runner.end(run.name, takenBy(run, time.clock.now()));
    await until("Ready", async () => (await reason(name)) === "BackupSucceeded", 30);
    assert.ok((await read(name))?.status?.filename?.split("/").every((part) => part.length <= 255));
    await backups.delete({ namespace, name });
  });

  test("one whose operator dies in the middle is gone on with, and not begun twice", async () => {
    await ask("second");
    const run = await begun("second");
    await end();
    runner.end(run.name, takenBy(run, time.clock.now()));
    begin();
    await until("Ready", async () => (await reason("second")) === "BackupSucceeded", 120);
    assert.equal(runsOf("second").length, 1);
    await until("the claim is gone", async () => (await claim()) === undefined, 60);
  });

  test("a worker that dies is followed by another, from another voter, in the same slot", async () => {
    await ask("third");
    const one = await begun("third");
    runner.end(one.name);
    const two = await begun("third", 2);
    assert.ok(one.task.kind === "take" && two.task.kind === "take");
    assert.equal(one.task.slot, two.task.slot);
    assert.notEqual(one.task.attempt, two.task.attempt);
    assert.notEqual(one.task.source.machine, two.task.source.machine);
    runner.end(two.name, takenBy(two, time.clock.now()));
    await until("Ready", async () => (await reason("third")) === "BackupSucceeded", 30);
    assert.equal(await reason("third", "Failed"), "BackupSucceeded");
  });

  test("backups of one cluster take turns", async () => {
    await ask("fourth");
    const four = await begun("fourth");
    await ask("fifth");
    await until("it waits", async () => (await reason("fifth")) === "WaitingForTurn", 30);
    runner.end(four.name, takenBy(four, time.clock.now()));
    // The end of one wakes the next: a waiting one by itself looks again after ten seconds.
    await until("the next begins", async () => runsOf("fifth").length > 0, 4);
    const five = await begun("fifth");
    runner.end(five.name, takenBy(five, time.clock.now()));
    await until("Ready", async () => (await reason("fifth")) === "BackupSucceeded", 30);
  });

  test("keys of a store that are renewed while a run uses them reach its worker, and are read no more once it ended", async () => {
    const secrets = client.resource<KubeObject & { readonly data?: Record<string, string> }>(secretType);
    const keys = (id: string) => ({
      id: Buffer.from(id).toString("base64"),
      secret: Buffer.from("not-to-be-told-in-any-place").toString("base64"),
    });
    const metadata = { namespace, name: "store" };
    await secrets.create({ apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data: keys("one") } as KubeObject);
    const key = (name: string) => ({ name: "store", key: name });
    const s3 = { bucket: "etcd-backups", region: "eu-central-1", accessKeyID: key("id"), secretAccessKey: key("secret") };
    await ask("renewed", { backupStorage: { s3 } });
    const run = await begun("renewed");
    assert.equal(run.secrets.store?.accessKeyID, "one");
    await secrets.patch(metadata, { type: "merge", value: { data: keys("two") } });
    await until("they are there", async () => runner.renewed.at(-1)?.store.accessKeyID === "two", 60);
    runner.end(run.name, takenBy(run, time.clock.now()));
    await until("Ready", async () => (await reason("renewed")) === "BackupSucceeded", 30);
    const { length } = runner.renewed;
    await time.advance(120_000);
    assert.deepEqual([runner.renewed.length, runner.renewed.every(({ name }) => name === run.name)], [length, true]);
  });

  test("a cluster that is paused is backed up all the same: it is only read", async () => {
    const controlPlanes = client.resource<TalosControlPlane>(talosControlPlaneResource);
    const mode = (value: string | null) =>
      controlPlanes.patch(
        { namespace, name: "demo" },
        { type: "merge", value: { metadata: { annotations: { [annotations.reconcileMode]: value } } } },
      );
    await mode("disable");
    await until(
      "it is paused",
      async () => findCondition((await controlPlanes.get({ namespace, name: "demo" })).status?.conditions, "Paused")?.status === "True",
      60,
    );
    await ask("paused");
    const run = await begun("paused");
    runner.end(run.name, takenBy(run, time.clock.now()));
    await until("Ready", async () => (await reason("paused")) === "BackupSucceeded", 30);
    // A process that begins while it is paused has to look first.
    await end();
    begin();
    await ask("paused-and-begun-anew");
    const second = await begun("paused-and-begun-anew");
    runner.end(second.name, takenBy(second, time.clock.now()));
    await until("Ready", async () => (await reason("paused-and-begun-anew")) === "BackupSucceeded", 60);
    await mode(null);
  });

  test("no control plane is begun to be disturbed while one is taken, and is afterwards", async () => {
    await ask("sixth");
    const run = await begun("sixth");
    const records = client.resource<ClusterRecord>(clusterRecordResource);
    await client.resource<TalosCluster>(talosClusterResource).patch(
      { namespace, name: "demo" },
      {
        type: "merge",
        value: { spec: { controlPlane: { metalSpec: { machines: addresses.slice(0, 1).map((address) => ({ address })) } } } },
      },
    );
    await time.advance(120_000);
    const during = await records.get({ namespace, name: "demo" });
    assert.equal(during.spec.openControlPlaneIntent, undefined);
    assert.equal(during.spec.snapshot?.run, run.name);
    runner.end(run.name, takenBy(run, time.clock.now()));
    await until(
      "a control plane leaves",
      async () => (await records.get({ namespace, name: "demo" })).spec.openControlPlaneIntent !== undefined,
      120,
    );
    await ask("seventh");
    await until("it waits for that", async () => (await reason("seventh")) === "WaitingForDisruption", 60);
  });

  test("what is stored goes with an object that says so, and its finalizer with it", async () => {
    await until("the seventh begins", async () => runsOf("seventh").length > 0 || (await reason("seventh")) === "BackupFailed");
    const [seventh] = runsOf("seventh");
    if (seventh !== undefined) runner.end(seventh.name, takenBy(seventh, time.clock.now()));
    await backups.patch({ namespace, name: "first" }, { type: "merge", value: { spec: { deletionPolicy: "delete" } } });
    await until(
      "the finalizer is there",
      async () => (await read("first"))?.metadata.finalizers?.includes(finalizers.talosEtcdBackup) === true,
      30,
    );
    await backups.delete({ namespace, name: "first" });
    const run = await begun("first", 2);
    assert.ok(run.task.kind === "remove");
    runner.end(run.name, { kind: "removed", slots: run.task.slots, kept: [] });
    await until("it is gone", async () => (await read("first")) === undefined, 60);
    await backups.delete({ namespace, name: "second" });
    await until("the other goes at once", async () => (await read("second")) === undefined, 10);
    assert.equal(runsOf("second").length, 1);
  });

  test("a schedule takes them at its times, keeps as many as asked for, and removes the others with their bytes", async () => {
    const schedules = client.resource<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource);
    const made = async (): Promise<readonly string[]> =>
      (await backups.list({ namespace })).items
        .filter(({ metadata }) => metadata.ownerReferences?.[0]?.name === "often")
        .map(({ metadata }) => metadata.name)
        .toSorted();
    const finish = async (): Promise<void> => {
      for (const { name, task } of runner.begun) {
        if ((await runner.look(name)).kind !== "running") continue;
        const run = runner.begun.find((one) => one.name === name);
        if (run === undefined) continue;
        if (task.kind === "take") runner.end(name, takenBy(run, time.clock.now()));
        if (task.kind === "remove") runner.end(name, { kind: "removed", slots: task.slots, kept: [] });
      }
    };
    await schedules.create({
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosEtcdBackupSchedule",
      metadata: { namespace, name: "often" },
      spec: {
        schedule: "*/10 * * * *",
        timeZone: "UTC",
        retention: 2,
        backupTemplate: { spec: { clusterRef: { name: "demo" }, backupStorage: { directory: {} } } },
      },
    });
    await until("the first", async () => (await made()).length === 1, 700);
    const [first = ""] = await made();
    await end();
    begin();
    await until(
      "the first is gone",
      async () => {
        await finish();
        const names = await made();
        return names.length === 2 && !names.includes(first);
      },
      2_400,
    );
    assert.deepEqual(
      runsOf(first).map(({ task }) => task.kind),
      ["take", "remove"],
    );
    assert.match(first, /^often-\d{11}000$/);
    const schedule = await schedules.get({ namespace, name: "often" });
    assert.deepEqual([schedule.status?.backups, schedule.status?.skipped], [2, 0]);
    assert.equal(findCondition(schedule.status?.conditions, "Ready")?.reason, "ScheduleActive");
    await schedules.patch({ namespace, name: "often" }, { type: "merge", value: { spec: { paused: true } } });
    const before = runner.begun.length;
    await time.advance(1_800_000);
    assert.equal(runner.begun.length, before);
  });

  test("a proof that does not hold is told by the backup, its schedule, an event and a figure, until one holds again", async () => {
    const schedules = client.resource<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource);
    const { items } = await backups.list({ namespace });
    const [newest] = items
      .filter(({ metadata }) => metadata.ownerReferences?.[0]?.name === "often")
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? 1 : -1));
    assert.ok(newest !== undefined);
    const { name } = newest.metadata;
    const proved = async () => (await schedules.get({ namespace, name: "often" })).status;
    const figure = (): string | undefined => seriesOf("talos_operator_backup_proof_failed")[0]?.split(" ").at(-1);
    const prove = async (word: string, result: Parameters<typeof runner.end>[1]): Promise<void> => {
      const before = runsOf(name).length;
      await schedules.patch(
        { namespace, name: "often" },
        { type: "merge", value: { metadata: { annotations: { [annotations.proveNow]: word } } } },
      );
      const run = await begun(name, before + 1);
      assert.equal(run.task.kind, "prove");
      runner.end(run.name, result);
      await until(
        "the schedule has heard",
        async () =>
          (await proved())?.lastProof?.at === (await read(name))?.status?.lastProofTime && (await read(name))?.status?.run === undefined,
        60,
      );
    };
    await prove("1", { kind: "failed", reason: "proof-failed", message: "Byte 4711 differs.", mayRepeat: false });
    assert.deepEqual([await reason(name, "Proved"), await reason(name)], ["ProofFailed", "BackupSucceeded"]);
    const status = await proved();
    assert.deepEqual([status?.lastProof?.result, findCondition(status?.conditions, "Proved")?.reason], ["Failed", "ProofFailed"]);
    assert.match(findCondition(status?.conditions, "Proved")?.message ?? "", new RegExp(`^${name}: Byte 4711 differs`));
    assert.ok((await eventsOf(name)).includes("ProofFailed"));
    assert.equal(figure(), "1");
    const take = runsOf(name).find(({ task }) => task.kind === "take");
    assert.ok(take !== undefined);
    const taken = takenBy(take, time.clock.now());
    assert.ok(taken.kind === "taken");
    await prove("2", { kind: "proved", facts: taken.facts, proof: { how: "restored", on: "store" } });
    assert.deepEqual([await reason(name, "Proved"), (await proved())?.lastProof?.result, figure()], ["Restored", "Proved", "0"]);
  });

  test("every metric of backups that an alert or the dashboard asks for is shown, with the reasons that it asks for", () => {
    const chart = (name: string): string =>
      readFileSync(new URL(`../../../../charts/talos-operator/files/${name}`, import.meta.url), "utf8");
    const asked = `${chart("alerts.yaml")}${chart("dashboard.json")}`;
    const names = new Set([...asked.matchAll(/\btalos_operator_backup_[a-z_]+/g)].map(([name]) => name));
    assert.ok(names.size >= 7);
    for (const name of names) assert.notDeepEqual(seriesOf(name), [], name);
    const reasons = [...asked.matchAll(/reason=~"([\w|]+)"/g)].flatMap(([, words = ""]) => words.split("|"));
    assert.ok(reasons.includes("StoreUnreachable"));
    for (const reason of reasons)
      assert.ok(
        seriesOf("talos_operator_backup_runs_total").some((line) => line.includes(`reason="${reason}"`)),
        reason,
      );
    const count = (labels: string): number =>
      Number(
        seriesOf("talos_operator_backup_runs_total")
          .find((line) => line.includes(labels))
          ?.split(" ")
          .at(-1) ?? "0",
      );
    assert.equal(count('result="failed",reason="WorkerFailed"'), 1);
    assert.ok(count('result="succeeded",reason="BackupSucceeded"') >= 6);
    assert.ok(count('result="succeeded",reason="Deleting"') >= 2);
  });

  test("no key of the cluster stands in a status, a log or a task", async () => {
    const words: string[] = [];
    for (const { data } of (await client.resource<KubeObject & { readonly data?: Record<string, string> }>(secretType).list({ namespace }))
      .items)
      for (const value of Object.values(data ?? {}))
        words.push(
          ...Buffer.from(value, "base64")
            .toString()
            .split(/[\s"]+/)
            .filter((word) => word.length >= 24),
        );
    const told = JSON.stringify([
      (await backups.list({ namespace })).items,
      runner.begun.map(({ task, owner, name }) => [task, owner, name]),
      logged,
    ]);
    // The identity of a cluster is no secret: it stands in its record, and in the name of its folder.
    const { clusterId } = (await client.resource<ClusterRecord>(clusterRecordResource).get({ namespace, name: "demo" })).spec;
    assert.ok(words.length > 10);
    for (const word of words) assert.ok(word === clusterId || !told.includes(word), "a key is told");
  });
});
