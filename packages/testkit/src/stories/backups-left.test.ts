import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations, clusterRecordResource, findCondition, talosClusterResource, talosEtcdBackupResource } from "@talos-operator/api";
import type { TalosCluster, TalosEtcdBackup } from "@talos-operator/api";
import { createSeededRandom } from "@talos-operator/kube-runtime/testing";
import { createMemoryObjectStore } from "../world/memory-object-store.ts";
import { createWorkingRunner } from "../world/working-runner.ts";
import type { WorkingRunner } from "../world/working-runner.ts";
import { demoCluster, kinds, tell } from "./story.ts";

const namespace = "default";

test("backups of a cluster that is gone, and its keys with it, are proved and removed by what their objects say of them", () => {
  let runner: WorkingRunner | undefined;
  const backups = () => {
    if (runner === undefined) throw new Error("the story has not begun");
    return { runner, backupDirectory: "/backups" };
  };
  return tell({ backups }, async (world) => {
    const { clock, timers } = world.time;
    const store = createMemoryObjectStore(clock);
    const running = createWorkingRunner({ clock, timers, random: createSeededRandom(9), dialer: world.datacenter.dialer(), store });
    runner = running;
    const objects = world.client.resource<TalosEtcdBackup>(talosEtcdBackupResource);
    const read = (name: string) => objects.tryGet({ namespace, name });
    const proved = async (name: string) => findCondition((await read(name))?.status?.conditions, "Proved");
    await world.client.resource<TalosCluster>(talosClusterResource).create(demoCluster(["10.5.0.1"]));
    await world.start();
    await world.untilReady();
    for (const name of ["first", "second"]) {
      await objects.create({
        apiVersion: "talos.alperen.cloud/v1alpha1",
        kind: "TalosEtcdBackup",
        metadata: { namespace, name },
        spec: { clusterRef: { name: "demo" }, backupStorage: { directory: {} }, deletionPolicy: "delete" },
      });
      await world.until(`${name} is there`, async () => (await read(name))?.status?.filename !== undefined, 120);
    }
    await world.client.resource(talosClusterResource).delete({ namespace, name: "demo" });
    await world.until("the cluster is gone", async () => (await world.get(kinds.cluster)) === undefined, 900);
    await world.until(
      "its record and keys are gone",
      async () =>
        (await world.client.resource(clusterRecordResource).tryGet({ namespace, name: "demo" })) === undefined &&
        (await world.get(kinds.secret, "demo-bundle-1")) === undefined,
      900,
    );
    const prove = async (name: string, word: string): Promise<string | undefined> => {
      await objects.patch({ namespace, name }, { type: "merge", value: { metadata: { annotations: { [annotations.proveNow]: word } } } });
      await world.until(`${name} was looked at`, async () => (await read(name))?.status?.provedNow === word, 120);
      return (await proved(name))?.reason;
    };
    assert.equal(await prove("first", "one"), "ReadOnly");
    assert.ok(running.begun.at(-1)?.secrets.manifestKey === undefined);
    const second = (await read("second"))?.status?.filename ?? "";
    const first = (await read("first"))?.status?.filename ?? "";
    const bytes = Buffer.from(store.contents().get(second) ?? []);
    bytes.writeUInt8(bytes.readUInt8(9) ^ 1, 9);
    store.plant(second, bytes);
    assert.equal(await prove("second", "two"), "ProofFailed");
    await objects.delete({ namespace, name: "first" });
    await world.until("the first is gone", async () => (await read("first")) === undefined, 120);
    assert.deepEqual([store.contents().has(first), store.contents().has(second)], [false, true]);
    await objects.delete({ namespace, name: "second" });
    await world.until("the second is gone", async () => (await read("second")) === undefined, 120);
    assert.deepEqual(
      [...store.contents().keys()].filter((key) => !key.endsWith(".probe")),
      [],
    );
  });
});
