import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { etcdBackupResource, talosEtcdBackupResource, talosEtcdBackupScheduleResource } from "@talos-operator/api";
import type { EtcdBackup, EtcdBackupSpec, KubernetesCluster, TalosEtcdBackup, TalosEtcdBackupSchedule } from "@talos-operator/api";
import type { BackupDependencies } from "@talos-operator/operator";
import { parseKubernetesYaml } from "@talos-operator/kube-runtime/yaml";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { flatCluster, tellComposition } from "./composition.ts";
import type { CompositionStory } from "./composition.ts";
import type { StoryOptions } from "./story.ts";
import { kinds } from "./story.ts";
import { createScriptedRunner, takenBy } from "../world/scripted-runner.ts";
import type { ScriptedRunner } from "../world/scripted-runner.ts";

const namespace = "default";
const local = { type: "local", path: "south" } as const;

/** A composed cluster `demo`, whose workers of backups end by themselves. */
function tellBackups(
  story: (world: CompositionStory, runner: ScriptedRunner) => Promise<void>,
  operator: StoryOptions["operator"] = {},
  bounds: Pick<BackupDependencies, "requireStoreLabel" | "endpoints" | "identityNamespaces"> = {},
): Promise<void> {
  let runner: ScriptedRunner | undefined;
  const backups = () => {
    if (runner === undefined) throw new Error("the story has not begun");
    return { runner, backupDirectory: "/backups", insecureHosts: ["127.0.0.1:9333"], ...bounds };
  };
  return tellComposition({ backups, operator }, async (world) => {
    runner = createScriptedRunner(world.time.clock);
    await world.start();
    await world.client.resource(kinds.kubernetesCluster).create(flatCluster(1, { workers: 0 }));
    await world.untilComposed(600);
    await story(world, runner);
  });
}

const ask = (world: CompositionStory, name: string, spec: Partial<EtcdBackupSpec>, annotations: Record<string, string> = {}) =>
  world.client.resource<EtcdBackup>(etcdBackupResource).create({
    apiVersion: "vitistack.io/v1alpha1",
    kind: "EtcdBackup",
    metadata: { namespace, name, annotations },
    spec: { clusterName: "demo", storageLocation: local, ...spec },
  });
const read = (world: CompositionStory, name: string) => world.client.resource<EtcdBackup>(etcdBackupResource).tryGet({ namespace, name });
const backupOf = (world: CompositionStory, name: string) =>
  world.client.resource<TalosEtcdBackup>(talosEtcdBackupResource).tryGet({ namespace, name });
const reasonOf = (backup: EtcdBackup | undefined, type = "Ready"): string | undefined =>
  backup?.status?.conditions?.find((one) => one.type === type)?.reason;

/** Until a backup is `Completed`; its workers do well. */
async function untilCompleted(world: CompositionStory, runner: ScriptedRunner, name: string, seconds = 120): Promise<EtcdBackup> {
  await world.until(
    `EtcdBackup ${name} is Completed`,
    async () => {
      for (const run of runner.begun)
        if ((await runner.look(run.name)).kind === "running") runner.end(run.name, takenBy(run, world.time.clock.now()));
      return (await read(world, name))?.status?.phase === "Completed";
    },
    seconds,
  );
  const backup = await read(world, name);
  assert.ok(backup !== undefined);
  return backup;
}

describe("EtcdBackups", () => {
  it("are carried out by a TalosEtcdBackup of their name, and say what that says in the published words", () =>
    tellBackups(async (world, runner) => {
      await ask(world, "one", {});
      await world.until("it runs", async () => (await read(world, "one"))?.status?.phase === "Running", 60);
      const { status } = await untilCompleted(world, runner, "one");
      assert.deepEqual(
        [status?.backupCount, status?.backupSize, status?.observedGeneration, status?.nextBackupTime],
        [1, "20512", 1, undefined],
      );
      assert.ok(status?.lastBackupTime !== undefined && status.message?.startsWith("Stored as talos-operator-etcd-backups/") === true);
      const made = await backupOf(world, "one");
      assert.deepEqual(
        [made?.spec.talosControlPlaneRef?.name, made?.spec.backupStorage, made?.metadata.ownerReferences?.[0]?.kind],
        ["demo", { directory: { path: "south" } }, "EtcdBackup"],
      );
      assert.equal(runner.begun.length, 1);
      await world.stop();
      await world.start();
      await world.time.advance(60_000);
      assert.equal(runner.begun.length, 1, "a new process takes none anew");
      await world.client.resource(etcdBackupResource).delete({ namespace, name: "one" });
      await world.until("what it made is gone", async () => (await backupOf(world, "one")) === undefined, 60);
    }));

  it("with a schedule are carried out at its times, and follow every edit", () =>
    tellBackups(async (world, runner) => {
      await ask(world, "often", { schedule: "*/10 * * * *", retention: 2 });
      const { status } = await untilCompleted(world, runner, "often", 1_300);
      assert.ok(status?.nextBackupTime !== undefined);
      const schedules = world.client.resource<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource);
      const edit = (spec: object): Promise<unknown> =>
        world.client.resource(etcdBackupResource).patch({ namespace, name: "often" }, { type: "merge", value: { spec } });
      await schedules.patch({ namespace, name: "often" }, { type: "merge", value: { spec: { keepDaily: 3 } } });
      await edit({ schedule: "0 * * * *", retention: 3, storageLocation: { path: "north" } });
      await world.until(
        "the edit is carried out",
        async () => (await schedules.get({ namespace, name: "often" })).spec.retention === 3,
        60,
      );
      const { spec } = await schedules.get({ namespace, name: "often" });
      assert.deepEqual(
        [spec.schedule, spec.keepDaily, spec.backupTemplate.spec.backupStorage],
        ["0 * * * *", 3, { directory: { path: "north" } }],
      );
      await edit({ schedule: null });
      await world.until(
        "there is no schedule any more",
        async () => (await schedules.tryGet({ namespace, name: "often" })) === undefined,
        60,
      );
      await untilCompleted(world, runner, "often");
      assert.ok((await backupOf(world, "often")) !== undefined, "without a schedule it is one backup");
    }));

  it("go to the bucket that their Secret leads to; its keys are named and never copied", () =>
    tellBackups(async (world, runner) => {
      const storageLocation = { type: "s3", bucket: "talos-backups", path: "south", secretRef: "store" } as const;
      await ask(world, "far", { storageLocation });
      await world.until("its Secret is missed", async () => reasonOf(await read(world, "far")) === "KeysNotReadable", 60);
      const texts = {
        AWS_ACCESS_KEY_ID: "an-id-of-a-key",
        AWS_SECRET_ACCESS_KEY: "a-key-that-nobody-sees",
        endpoint: "https://store.example.org",
        recipients: "# ours\nage1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p\n",
      };
      const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
      const secret = { apiVersion: "v1", kind: "Secret", metadata: { namespace, name: "store" }, data };
      await world.client.resource(kinds.secret).create(secret);
      await untilCompleted(world, runner, "far");
      const made = await backupOf(world, "far");
      assert.deepEqual(made?.spec.backupStorage.s3, {
        bucket: "talos-backups",
        region: "us-east-1",
        endpoint: "https://store.example.org",
        prefix: "south",
        accessKeyID: { name: "store", key: "AWS_ACCESS_KEY_ID" },
        secretAccessKey: { name: "store", key: "AWS_SECRET_ACCESS_KEY" },
        insecureSkipTLSVerify: false,
      });
      assert.equal(made?.spec.encryption?.recipients?.length, 1);
      assert.equal(runner.begun[0]?.secrets.store?.secretAccessKey, "a-key-that-nobody-sees");
      assert.ok(!JSON.stringify([made, await read(world, "far")]).includes("nobody-sees"));
    }));

  it("examples/vitistack-etcd-backup.yaml is carried out for the cluster of its example, with the Secret that the demo makes", () =>
    tellBackups(
      async (world, runner) => {
        const read = <T extends KubeObject>(file: string): T => {
          const [object] = parseKubernetesYaml(readFileSync(new URL(`../../../../examples/${file}`, import.meta.url), "utf8"));
          return object as T;
        };
        const asked = read<EtcdBackup>("vitistack-etcd-backup.yaml");
        const { spec } = asked;
        assert.ok(spec !== undefined);
        const example = read<KubernetesCluster>("simple-kubernetescluster.yaml");
        assert.ok(
          [example.metadata.name, example.spec?.data?.clusterId].includes(spec.clusterName),
          "it names the cluster of the other example",
        );
        const texts = { accessKeyID: "DEMO0123", secretAccessKey: "a-key-that-nobody-sees", endpoint: "http://127.0.0.1:9333" };
        const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
        const metadata = { namespace, name: spec.storageLocation.secretRef ?? "" };
        await world.client.resource(kinds.secret).create({ apiVersion: "v1", kind: "Secret", metadata, data } as KubeObject);
        // The cluster of this story has another name.
        await world.client.resource<EtcdBackup>(etcdBackupResource).create({ ...asked, spec: { ...spec, clusterName: "demo" } });
        await untilCompleted(world, runner, asked.metadata.name);
        assert.equal((await backupOf(world, asked.metadata.name))?.spec.backupStorage.s3?.endpoint, texts.endpoint);
      },
      { allowLoopbackMachines: true },
    ));

  const refused: readonly (readonly [string, Partial<EtcdBackupSpec>, string])[] = [
    ["a cluster that is not there", { clusterName: "nobody" }, "ControlPlaneNotFound"],
    ["no cluster", { clusterName: "" }, "SpecRefused"],
    ["gcs", { storageLocation: { type: "gcs", bucket: "b-u-c" } }, "FieldNotSupported"],
    ["azure", { storageLocation: { type: "azure", bucket: "b-u-c" } }, "FieldNotSupported"],
    ["s3 without a bucket", { storageLocation: { type: "s3" } }, "SpecRefused"],
    ["a folder with a bucket", { storageLocation: { type: "local", bucket: "b-u-c" } }, "SpecRefused"],
    ["a folder outside", { storageLocation: { type: "local", path: "../x" } }, "SpecRefused"],
    ["nothing to keep", { retention: 0 }, "SpecRefused"],
    ["no time", { schedule: "0 0 30 2 *" }, "NeverFires"],
    ["no cron", { schedule: "daily" }, "InvalidSchedule"],
  ];
  it("read a Secret without its label nowhere where the label is demanded, and copy nothing of it", () =>
    tellBackups(
      async (world, runner) => {
        const storageLocation = { type: "s3", bucket: "talos-backups", secretRef: "somebody-elses" } as const;
        const texts = { accessKeyID: "an-id-of-a-key", secretAccessKey: "a-key-that-nobody-sees", endpoint: "https://copied.example.org" };
        const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
        const secrets = world.client.resource(kinds.secret);
        const metadata = { namespace, name: "somebody-elses" };
        await secrets.create({ apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data } as KubeObject);
        await ask(world, "far", { storageLocation });
        await world.until("it is refused", async () => reasonOf(await read(world, "far")) === "BackupStoreSecretUnlabelled", 60);
        const said = JSON.stringify(await read(world, "far"));
        assert.ok(Object.values(texts).every((text) => !said.includes(text)));
        assert.deepEqual([await backupOf(world, "far"), runner.begun], [undefined, []]);
        await secrets.patch(metadata, { type: "merge", value: { metadata: { labels: { "talos-operator.dev/backup-store": "true" } } } });
        await untilCompleted(world, runner, "far");
      },
      {},
      { requireStoreLabel: true },
    ));

  it("use the cloud identity of the Jobs in no namespace that is not named", () =>
    tellBackups(
      async (world, runner) => {
        await ask(world, "keyless", { storageLocation: { type: "s3", bucket: "talos-backups" } });
        await world.until("it is refused", async () => reasonOf(await read(world, "keyless")) === "SpecRefused", 60);
        assert.deepEqual(runner.begun, []);
      },
      {},
      { identityNamespaces: ["infra"] },
    ));

  it("say what is wrong with them", () =>
    tellBackups(async (world, runner) => {
      for (const [index, [, spec]] of refused.entries()) await ask(world, `bad-${index}`, spec);
      await world.time.advance(30_000);
      const found = await Promise.all(refused.map(async (_, index) => reasonOf(await read(world, `bad-${index}`))));
      assert.deepEqual(
        refused.map(([name], index) => [name, found[index]]),
        refused.map(([name, , reason]) => [name, reason]),
      );
      assert.equal(runner.begun.length, 0);
    }));

  it("leave another's backup of their name alone, and what another operator finished", () =>
    tellBackups(async (world, runner) => {
      await world.client.resource<TalosEtcdBackup>(talosEtcdBackupResource).create({
        apiVersion: "talos.alperen.cloud/v1alpha1",
        kind: "TalosEtcdBackup",
        metadata: { namespace, name: "taken" },
        spec: { talosControlPlaneRef: { name: "somewhere" }, backupStorage: { directory: {} } },
      });
      await ask(world, "taken", {});
      await ask(world, "finished", {});
      await world.stop();
      const theirs = { status: { phase: "Completed", observedGeneration: null, conditions: null, backupCount: 1 } };
      const made = await backupOf(world, "finished");
      if (made !== undefined) await world.client.resource(talosEtcdBackupResource).delete(made.metadata);
      await world.client.resource(etcdBackupResource).patchStatus({ namespace, name: "finished" }, { type: "merge", value: theirs });
      await world.start();
      await world.time.advance(60_000);
      assert.equal(reasonOf(await read(world, "taken")), "NameConflict");
      assert.equal(await backupOf(world, "finished"), undefined);
      assert.equal(runner.begun.filter(({ owner }) => owner.name !== "finished").length, 0);
    }));

  it("wait while they are paused", () =>
    tellBackups(async (world, runner) => {
      await ask(world, "held", {}, { "talos.alperen.cloud/reconcile-mode": "disable" });
      await world.time.advance(30_000);
      assert.equal(reasonOf(await read(world, "held"), "Paused"), "ReconcileModeDisable");
      assert.equal(runner.begun.length, 0);
    }));
});
