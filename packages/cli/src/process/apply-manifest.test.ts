import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createLogger, createX509Keys } from "@talos-operator/adapters";
import { talosClusterResource } from "@talos-operator/api";
import type { TalosCluster } from "@talos-operator/api";
import { createKubeClient, type KubeClient } from "@talos-operator/kube-runtime";
import { applyManifest } from "./apply-manifest.ts";
import { openDataFolder } from "./data-folder.ts";
import { startEmbeddedApi, type EmbeddedApi } from "./embedded-api.ts";
import type { ManifestObject } from "./manifest.ts";

let folder = "";
let api: EmbeddedApi;
let client: KubeClient;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "talos-operator-manifest-"));
  api = await startEmbeddedApi({
    folder: openDataFolder(folder),
    persist: false,
    durability: "process-crash",
    listen: { address: "127.0.0.1", port: 0 },
    keys: createX509Keys(),
    log: createLogger({ level: "silent" }),
  });
  client = createKubeClient(api.transport);
});
after(async () => {
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

const pool = (...addresses: readonly string[]): object => ({
  version: "v1.13.9",
  mode: "metal",
  metalSpec: { machines: addresses.map((address) => ({ address })) },
});
const manifest = (name: string, ...workers: readonly string[]): ManifestObject => ({
  apiVersion: "talos.alperen.cloud/v1alpha1",
  kind: "TalosCluster",
  metadata: { name },
  spec: { controlPlane: { ...pool("127.1.0.1"), kubeVersion: "v1.36.3" }, worker: pool(...workers) },
});

describe("a manifest that is applied at each start", () => {
  const clusters = () => client.resource<TalosCluster>(talosClusterResource);
  const workersOf = async (name: string): Promise<readonly (string | undefined)[]> =>
    (await clusters().get({ namespace: "default", name })).spec?.worker?.metalSpec?.machines?.map(({ address }) => address) ?? [];

  it("leaves what people edited as it is while it says the same", async () => {
    await applyManifest(client, [manifest("edited", "127.1.0.4")]);
    const value = { spec: { worker: pool("127.1.0.4", "127.1.0.5") } };
    await clusters().patch({ namespace: "default", name: "edited" }, { type: "merge", value });
    const [again] = await applyManifest(client, [manifest("edited", "127.1.0.4")]);
    assert.equal(again?.metadata.name, "edited");
    assert.deepEqual(await workersOf("edited"), ["127.1.0.4", "127.1.0.5"]);
  });

  it("is applied where it says something new", async () => {
    await applyManifest(client, [manifest("changed", "127.1.0.4")]);
    await applyManifest(client, [manifest("changed", "127.1.0.6")]);
    assert.deepEqual(await workersOf("changed"), ["127.1.0.6"]);
  });

  it("tells kubectl what was applied, so that a file that says less takes away", async () => {
    await applyManifest(client, [manifest("told", "127.1.0.4")]);
    const { metadata } = await clusters().get({ namespace: "default", name: "told" });
    const told = JSON.parse(metadata.annotations?.["kubectl.kubernetes.io/last-applied-configuration"] ?? "") as ManifestObject;
    assert.deepEqual(told, { ...manifest("told", "127.1.0.4"), metadata: { annotations: {}, name: "told", namespace: "default" } });
  });

  it("puts nothing of a Secret into its annotations", async () => {
    await applyManifest(client, [{ apiVersion: "v1", kind: "Secret", metadata: { name: "keys" }, stringData: { a: "hidden" } }]);
    const secret = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true } as const;
    const { metadata } = await client.resource(secret).get({ namespace: "default", name: "keys" });
    assert.doesNotMatch(JSON.stringify(metadata?.annotations), /hidden/);
  });
});
