import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, it } from "node:test";
import { createLogger, createX509Keys } from "@talos-operator/adapters";
import { apiVersionOf, controllerReference, talosClusterResource, talosControlPlaneResource } from "@talos-operator/api";
import type { TalosCluster, TalosControlPlane } from "@talos-operator/api";
import { createKubeClient, type KubeClient } from "@talos-operator/kube-runtime";
import { keepAccessFiles } from "./access-files.ts";
import { openDataFolder } from "./data-folder.ts";
import { startEmbeddedApi, type EmbeddedApi } from "./embedded-api.ts";

let path = "";
let api: EmbeddedApi;
let client: KubeClient;

before(async () => {
  path = mkdtempSync(join(tmpdir(), "talos-operator-access-"));
  api = await startEmbeddedApi({
    folder: openDataFolder(path),
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
  rmSync(path, { recursive: true, force: true });
});

const spec = {
  version: "v1.13.9",
  kubeVersion: "v1.36.3",
  mode: "metal",
  endpoint: "https://127.1.0.100:6443",
  metalSpec: { machines: [{ address: "127.1.0.1" }] },
} as const;

/** A control plane, made by a TalosCluster of another name where one is named. */
async function controlPlane(namespace: string, name: string, cluster?: string): Promise<void> {
  const apiVersion = apiVersionOf(talosClusterResource);
  const owner =
    cluster === undefined
      ? undefined
      : await client.resource<TalosCluster>(talosClusterResource).create({
          apiVersion,
          kind: "TalosCluster",
          metadata: { namespace, name: cluster },
          spec: { controlPlane: spec },
        } as TalosCluster);
  const ownerReferences = owner === undefined ? [] : [controllerReference({ apiVersion, kind: "TalosCluster", metadata: owner.metadata })];
  const object = { apiVersion, kind: "TalosControlPlane", metadata: { namespace, name, ownerReferences }, spec };
  await client.resource<TalosControlPlane>(talosControlPlaneResource).create(object as unknown as TalosControlPlane);
}

async function secrets(namespace: string, name: string, text: string): Promise<void> {
  const kind = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true } as const;
  for (const what of ["kubeconfig", "talosconfig"])
    await client
      .resource(kind)
      .apply(
        { metadata: { namespace, name: `${name}-${what}` }, data: { [what]: Buffer.from(`${text} ${what}`).toString("base64") } } as never,
        { fieldManager: "test", force: true },
      );
}

it("keeps files of every cluster of the API, made at the start or later, and gives each once as news", async () => {
  let now = 0;
  const access = keepAccessFiles(client, openDataFolder(path), () => now);
  const clusters = async (given: ReturnType<typeof access.write>): Promise<readonly string[]> =>
    (await given).map(({ cluster }) => cluster);
  const file = (...segments: readonly string[]): string => join(path, "clusters", ...segments);

  await controlPlane("default", "first", "first");
  await controlPlane("default", "later");
  assert.deepEqual(await clusters(access.write()), [], "no Secret is there");
  assert.equal(existsSync(file("default", "first", "kubeconfig")), false);
  await secrets("default", "first", "one");
  assert.deepEqual(await clusters(access.write()), ["default/first"]);

  // Somebody makes two more while it runs, one of them in the words of another kind, in another namespace.
  await client.resource({ group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false } as const).create({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "shops" },
  });
  await controlPlane("shops", "made-of-it", "shop");
  await secrets("shops", "shop", "three");
  await secrets("default", "later", "two");
  assert.deepEqual(await clusters(access.writeNews()), [], "it was looked a moment ago");
  now += 5_000;
  assert.deepEqual((await clusters(access.writeNews())).toSorted(), ["default/later", "shops/shop"]);
  assert.equal(readFileSync(file("shops", "shop", "talosconfig"), "utf8"), "three talosconfig");
  assert.equal(readFileSync(file("default", "later", "kubeconfig"), "utf8"), "two kubeconfig");

  // A certificate is renewed: the file follows, and nothing is news.
  await secrets("default", "first", "renewed");
  now += 5_000;
  assert.deepEqual(await clusters(access.writeNews()), []);
  assert.equal(readFileSync(file("default", "first", "kubeconfig"), "utf8"), "renewed kubeconfig");
  assert.equal((await access.write()).length, 3);
});
