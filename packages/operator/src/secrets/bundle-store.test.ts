import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createX509Keys } from "@talos-operator/adapters";
import { finalizers } from "@talos-operator/api";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { createFakeApi, createSeededRandom } from "@talos-operator/kube-runtime/testing";
import { contractFor, fingerprintSecretsBundle, generateSecretsBundle } from "@talos-operator/talos";
import { createBundleStore } from "./bundle-store.ts";

const collection = "/api/v1/secrets";
const key = { namespace: "default", name: "demo-bundle-1" };

/** A store with one cluster's keys in it. */
async function world() {
  const api = createFakeApi();
  const store = createBundleStore(createKubeClient(api.transport()));
  const keys = createX509Keys();
  const clock = { now: () => Date.UTC(2026, 0, 2) };
  const random = createSeededRandom(1);
  const serviceAccountKey = await keys.createPrivateKey("p256");
  const bundle = await generateSecretsBundle({ contract: contractFor("v1.13.0"), clock, random, keys, serviceAccountKey });
  keys.close();
  assert.equal(await store.create(key, "demo", bundle), "created");
  return { api, store, bundle, secret: (): KubeObject | undefined => api.objects(collection)[0] };
}

describe("the Secret of a bundle", () => {
  it("is one whose keys nobody can change in place", async () => {
    const { secret } = await world();
    assert.equal((secret() as { readonly immutable?: boolean }).immutable, true);
  });

  it("is held by a finalizer when somebody deletes it, until the store deletes it", async () => {
    const { api, store, bundle, secret } = await world();
    assert.deepEqual(secret()?.metadata?.finalizers, [finalizers.bundle]);
    await store.delete(key, fingerprintSecretsBundle(bundle));
    assert.deepEqual(api.objects(collection), []);
  });
});
