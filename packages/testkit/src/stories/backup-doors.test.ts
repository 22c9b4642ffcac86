import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findCondition, talosEtcdBackupResource } from "@talos-operator/api";
import type { BackupStorage, TalosCluster, TalosEtcdBackup } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import type { BackupDependencies } from "@talos-operator/operator";
import { createScriptedRunner, takenBy } from "../world/scripted-runner.ts";
import type { ScriptedRunner } from "../world/scripted-runner.ts";
import { createStory, demoCluster, kinds } from "./story.ts";
import type { Story } from "./story.ts";

/*
 * What a right on backups alone is worth: which Secrets are read, where their keys go, and who may use the cloud identity of the Jobs.
 */

interface Doors {
  readonly world: Story;
  readonly runner: ScriptedRunner;
  readonly ask: (name: string, storage: BackupStorage) => Promise<void>;
  /** The message of Ready once it has this reason. */
  readonly becomes: (name: string, reason: string) => Promise<string>;
}

const key = (of: string, name: string, isOptional = false) => ({ name: of, key: name, ...(isOptional ? { optional: true } : {}) });
const s3 = (of: string, over: object = {}): BackupStorage => ({
  s3: { bucket: "etcd-backups", region: "eu-central-1", accessKeyID: key(of, "id"), secretAccessKey: key(of, "secret"), ...over },
});
const texts = { id: "the-key-id", secret: "the-secret" };

async function withDoors(bounds: Partial<BackupDependencies>, tell: (doors: Doors) => Promise<void>): Promise<void> {
  let runner: ScriptedRunner | undefined;
  const world: Story = await createStory({
    backups: () => ({ runner: (runner ??= createScriptedRunner(world.time.clock)), ...bounds }),
  });
  const backups = world.client.resource<TalosEtcdBackup>(talosEtcdBackupResource);
  try {
    await world.client.resource<TalosCluster>(kinds.cluster).create(demoCluster(["10.5.0.1"]));
    const data = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString("base64")]));
    for (const [name, labels] of [
      ["labelled", { "talos-operator.dev/backup-store": "true" }],
      ["somebody-elses", {}],
    ] as const) {
      const metadata = { namespace: "default", name, labels };
      await world.client.resource(kinds.secret).create({ apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data } as KubeObject);
    }
    await world.start();
    await world.untilReady();
    assert.ok(runner !== undefined);
    await tell({
      world,
      runner,
      ask: async (name, backupStorage) =>
        void (await backups.create({
          apiVersion: "talos.alperen.cloud/v1alpha1",
          kind: "TalosEtcdBackup",
          metadata: { namespace: "default", name },
          spec: { clusterRef: { name: "demo" }, backupStorage },
        })),
      becomes: async (name, reason) => {
        let said: string | undefined;
        for (let second = 0; second < 90; second += 1) {
          const condition = findCondition((await backups.tryGet({ namespace: "default", name }))?.status?.conditions, "Ready");
          if (condition?.reason === reason) return condition.message;
          said = JSON.stringify(condition);
          await world.time.advance(1_000);
        }
        assert.fail(`Ready does not become ${reason}: ${said}`);
      },
    });
  } finally {
    await world.end();
  }
}

describe("a right on backups alone", () => {
  it("reads unlabelled Secrets by default, and a condition and an event say so", async () => {
    await withDoors({}, async ({ world, runner, ask, becomes }) => {
      await ask("open", s3("somebody-elses"));
      await becomes("open", "BackupInProgress");
      await world.until("a run is begun", async () => runner.begun.length === 1);
      const [run] = runner.begun;
      assert.ok(run !== undefined);
      assert.equal(run.secrets.store?.accessKeyID, texts.id);
      runner.end(run.name, takenBy(run, world.time.now()));
      await becomes("open", "BackupSucceeded");
      const backup = await world.client.resource<TalosEtcdBackup>(talosEtcdBackupResource).get({ namespace: "default", name: "open" });
      const condition = findCondition(backup.status?.conditions, "BackupStoreSecretUnlabelled");
      assert.match(condition?.message ?? "", /^Secret somebody-elses has no label talos-operator\.dev\/backup-store=true\. A user/);
      assert.ok(Object.values(texts).every((text) => !JSON.stringify(backup.status).includes(text)));
      const events = await world.client
        .resource({ group: "events.k8s.io", version: "v1", plural: "events", kind: "Event", namespaced: true })
        .list({ namespace: "default" });
      const told = events.items.filter(
        (event) => (event as unknown as { readonly reason: string }).reason === "BackupStoreSecretUnlabelled",
      );
      assert.equal(told.length, 1);
    });
  });

  it("reads labelled Secrets alone where the label is demanded", async () => {
    await withDoors({ requireStoreLabel: true }, async ({ world, runner, ask, becomes }) => {
      await ask("refused", s3("somebody-elses"));
      assert.match(await becomes("refused", "BackupStoreSecretUnlabelled"), /^Secret somebody-elses has no label/);
      await ask("taken", s3("labelled"));
      await world.until("a run is begun", async () => runner.begun.length > 0);
      await world.time.advance(60_000);
      assert.deepEqual(
        runner.begun.map(({ owner }) => owner.name),
        ["taken"],
      );
    });
  });

  it("sends keys to no endpoint that is not allowed", async () => {
    await withDoors({ endpoints: ["https://s3.example.org"] }, async ({ world, runner, ask, becomes }) => {
      await ask("elsewhere", s3("labelled", { endpoint: "https://s3.example.net" }));
      assert.match(await becomes("elsewhere", "SpecRefused"), /is none of --backup-endpoints\. Use https:\/\/s3\.example\.org, or/);
      await ask("allowed", s3("labelled", { endpoint: "https://s3.example.org" }));
      await world.until("a run is begun", async () => runner.begun.length > 0);
      assert.deepEqual(
        runner.begun.map(({ owner }) => owner.name),
        ["allowed"],
      );
    });
  });

  it("gets the cloud identity of the Jobs in no namespace that is not named, also by keys that are optional and absent", async () => {
    await withDoors({ identityNamespaces: ["infra"] }, async ({ runner, ask, becomes }) => {
      await ask("keyless", { s3: { bucket: "etcd-backups", region: "eu-central-1" } });
      assert.match(await becomes("keyless", "SpecRefused"), /namespace default is none of --backup-identity-namespaces/);
      const absent = { accessKeyID: key("absent", "id", true), secretAccessKey: key("absent", "secret", true) };
      await ask("optional", s3("labelled", absent));
      assert.match(await becomes("optional", "SpecRefused"), /namespace default is none of --backup-identity-namespaces/);
      assert.deepEqual(runner.begun, []);
    });
  });

  it("gets it in a namespace that is named", async () => {
    await withDoors({ identityNamespaces: ["default"] }, async ({ world, runner, ask }) => {
      await ask("keyless", { s3: { bucket: "etcd-backups", region: "eu-central-1" } });
      await world.until("a run is begun", async () => runner.begun.length === 1);
      assert.equal(runner.begun[0]?.secrets.store, undefined);
    });
  });
});
