import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createX509Keys } from "@talos-operator/adapters";
import { labels } from "@talos-operator/api";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { createFakeApi } from "@talos-operator/kube-runtime/testing";
import { controlPlane } from "../testing/builders.ts";
import { createAccessStore } from "./access-store.ts";

const collection = "/api/v1/secrets";
const owner = controlPlane();
const text = "apiVersion: v1\nkind: Config\n";

function world(): { readonly api: ReturnType<typeof createFakeApi>; readonly store: ReturnType<typeof createAccessStore> } {
  const api = createFakeApi();
  return { api, store: createAccessStore(createKubeClient(api.transport()), createX509Keys(), "test") };
}

function foreign(over: Partial<NonNullable<KubeObject["metadata"]>> = {}): KubeObject {
  const metadata = { namespace: "default", name: "demo-kubeconfig", ...over };
  return { apiVersion: "v1", kind: "Secret", metadata, data: { kubeconfig: "b2Y=" } } as KubeObject;
}

const dataOf = (api: ReturnType<typeof createFakeApi>): unknown => (api.objects(collection)[0] as { readonly data?: unknown }).data;

describe("an access Secret", () => {
  it("is made with a mark and an owner, and renewed as the same object", async () => {
    const { api, store } = world();
    assert.equal((await store.writeKubeconfig("default", "demo-kubeconfig", owner, "first")).isOurs, true);
    const [made] = api.objects(collection);
    assert.equal(made?.metadata?.ownerReferences?.[0]?.uid, owner.metadata.uid);
    assert.equal((await store.writeKubeconfig("default", "demo-kubeconfig", owner, text)).isOurs, true);
    const [renewed] = api.objects(collection);
    assert.equal(renewed?.metadata?.uid, made?.metadata?.uid);
    assert.deepEqual(dataOf(api), { kubeconfig: Buffer.from(text).toString("base64") });
  });

  it("tells when its certificate begins and ends", async () => {
    const keys = createX509Keys();
    const authority = await keys.createAuthority({ kind: "p256", notBefore: 0 });
    const { certificate } = await keys.signCertificate(authority, { usage: "client", notBefore: 60_000, lifetimeMs: 3_600_000 });
    const user = { "client-certificate-data": Buffer.from(certificate).toString("base64") };
    const stored = await world().store.writeKubeconfig("default", "demo-kubeconfig", owner, JSON.stringify({ users: [{ user }] }));
    assert.deepEqual(stored, { expiresAt: 3_660_000, validFrom: 60_000, isOurs: true });
  });

  it("keeps what people added to it", async () => {
    const { api, store } = world();
    await store.writeKubeconfig("default", "demo-kubeconfig", owner, "first");
    const [made] = api.objects(collection);
    api.put(collection, { ...made, metadata: { ...made?.metadata, labels: { ...made?.metadata?.labels, team: "a" } } });
    await store.writeKubeconfig("default", "demo-kubeconfig", owner, text);
    assert.equal(api.objects(collection)[0]?.metadata?.labels?.["team"], "a");
  });

  const others: readonly (readonly [string, KubeObject])[] = [
    ["of nobody", foreign()],
    [
      "of another object",
      foreign({ ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "x", uid: "another", controller: true }] }),
    ],
    ["of another cluster", foreign({ labels: { [labels.cluster]: "other", [labels.secretKind]: "kubeconfig" } })],
  ];
  for (const [whose, secret] of others) {
    it(`${whose} is left as it is`, async () => {
      const { api, store } = world();
      const put = api.put(collection, secret);
      assert.equal((await store.writeKubeconfig("default", "demo-kubeconfig", owner, text)).isOurs, false);
      assert.deepEqual(api.objects(collection), [put]);
    });

    it(`${whose} that came between look and write is left as it is`, async () => {
      const { api, store } = world();
      let put: KubeObject | undefined;
      api.onRequest = (request) => {
        if (request.method === "POST") put ??= api.put(collection, secret);
        return undefined;
      };
      assert.equal((await store.writeKubeconfig("default", "demo-kubeconfig", owner, text)).isOurs, false);
      assert.deepEqual(api.objects(collection), [put]);
    });
  }

  it("that was replaced between look and renewal is left as it is", async () => {
    const { api, store } = world();
    await store.writeKubeconfig("default", "demo-kubeconfig", owner, "first");
    let put: KubeObject | undefined;
    api.onRequest = (request) => {
      if (request.method === "PUT") put ??= api.put(collection, foreign());
      return undefined;
    };
    await assert.rejects(store.writeKubeconfig("default", "demo-kubeconfig", owner, text), { code: "CONFLICT" });
    assert.deepEqual(api.objects(collection), [put]);
  });
});
