import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findCondition, talosEtcdBackupResource } from "@talos-operator/api";
import type { BackupStorage, TalosEtcdBackup } from "@talos-operator/api";
import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import type { BackupRunRequest } from "@talos-operator/operator";
import { createScriptedRunner, takenBy } from "../world/scripted-runner.ts";
import type { ScriptedRunner } from "../world/scripted-runner.ts";
import { createStory, demoCluster, kinds } from "./story.ts";
import type { Story } from "./story.ts";

/*
 * `deletionPolicy: delete` holds when the namespace of a backup goes: what is stored is removed, or it is said where it can still be read that it was not.
 */

const namespaceType: ResourceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
const NAMESPACE = "team-b";
const s3: BackupStorage = {
  s3: { bucket: "etcd-backups", region: "r", accessKeyID: { name: "store", key: "id" }, secretAccessKey: { name: "store", key: "secret" } },
};

interface Going {
  readonly world: Story;
  readonly runner: ScriptedRunner;
  readonly filename: string;
  readonly backup: () => Promise<TalosEtcdBackup | undefined>;
  readonly removal: () => BackupRunRequest | undefined;
}

/** A namespace with a cluster and a stored backup of it, which is deleted. */
async function tellGoing(backupStorage: BackupStorage, isSecretFirst: boolean, tell: (going: Going) => Promise<void>): Promise<void> {
  let runner: ScriptedRunner | undefined;
  const world: Story = await createStory({
    backups: () => ({ runner: (runner ??= createScriptedRunner(world.time.clock)), backupDirectory: "/backups" }),
  });
  try {
    const backups = world.client.resource<TalosEtcdBackup>(talosEtcdBackupResource);
    const read = () => backups.tryGet({ namespace: NAMESPACE, name: "tb1" });
    await world.client.resource(namespaceType).create({ apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
    const cluster = demoCluster(["10.5.0.1"]);
    await world.client.resource(kinds.cluster).create({ ...cluster, metadata: { name: "tb", namespace: NAMESPACE } });
    const data = Object.fromEntries(["id", "secret"].map((name) => [name, Buffer.from(name).toString("base64")]));
    const secret = { namespace: NAMESPACE, name: "store" };
    await world.client
      .resource(kinds.secret)
      .create({ apiVersion: "v1", kind: "Secret", metadata: secret, type: "Opaque", data } as KubeObject);
    await backups.create({
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosEtcdBackup",
      metadata: { namespace: NAMESPACE, name: "tb1" },
      spec: { talosControlPlaneRef: { name: "tb" }, deletionPolicy: "delete", backupStorage },
    });
    await world.start();
    await world.until("a run is begun", async () => runner?.begun.length === 1, 600);
    assert.ok(runner !== undefined);
    const scripted = runner;
    const [run] = scripted.begun;
    assert.ok(run !== undefined);
    scripted.end(run.name, takenBy(run, world.time.now()));
    await world.until("it is stored", async () => findCondition((await read())?.status?.conditions, "Ready")?.status === "True");
    const filename = (await read())?.status?.filename ?? "";
    if (isSecretFirst) await world.client.resource(kinds.secret).delete(secret);
    await world.client.resource(namespaceType).delete({ name: NAMESPACE });
    const removal = () => scripted.begun.find(({ task }) => task.kind === "remove");
    await tell({ world, runner: scripted, filename, backup: read, removal });
  } finally {
    await world.end();
  }
}

/** Events that outlive the namespace. */
async function toldOf(world: Story): Promise<readonly { readonly reason: string; readonly note: string; readonly regarding: unknown }[]> {
  const { items } = await world.client
    .resource<KubeObject & { reason: string; note: string; regarding: { kind: string; name: string } }>(kinds.event)
    .list({ namespace: "default" });
  return items.filter(({ regarding }) => regarding.kind === "Namespace" && regarding.name === NAMESPACE);
}

describe("a backup with deletionPolicy delete whose namespace goes", () => {
  it("is removed from the store, and stays until it is", async () => {
    await tellGoing({ directory: {} }, false, async ({ world, runner, backup, removal }) => {
      await world.until("its removal is begun", async () => removal() !== undefined);
      assert.ok((await backup()) !== undefined);
      const { name = "", task } = removal() ?? {};
      runner.end(name, { kind: "removed", slots: task?.kind === "remove" ? task.slots : [], kept: [] });
      await world.until("it is gone", async () => (await backup()) === undefined);
      assert.deepEqual(
        (await toldOf(world)).map(({ reason }) => reason),
        ["BackupRemoved"],
      );
    });
  });

  it("goes without it where its store cannot be opened any more, and the Namespace says what stays", async () => {
    await tellGoing(s3, true, async ({ world, filename, backup, removal }) => {
      await world.until("it is gone", async () => (await backup()) === undefined);
      assert.equal(removal(), undefined);
      const [event] = await toldOf(world);
      assert.deepEqual(
        [event?.reason, event?.note],
        [
          "BackupRetained",
          `TalosEtcdBackup team-b/tb1: ${filename} stays in the store: Secret team-b/store not found (spec.backupStorage.s3.accessKeyID, secretAccessKey).`,
        ],
      );
    });
  });

  it("goes without it after ten minutes where its store does not answer", async () => {
    await tellGoing({ directory: {} }, false, async ({ world, backup, removal }) => {
      await world.until("its removal is begun", async () => removal() !== undefined);
      await world.time.advance(9 * 60_000);
      assert.ok((await backup()) !== undefined);
      await world.until("it is gone", async () => (await backup()) === undefined, 180);
    });
  });
});
