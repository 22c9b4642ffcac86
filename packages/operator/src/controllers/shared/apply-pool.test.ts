import assert from "node:assert/strict";
import { test } from "node:test";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeTransport } from "@talos-operator/ports";
import { applyPool } from "./apply-pool.ts";

const meta = { namespace: "default", name: "demo", uid: "5f1c7a3e-9d20-4c44-8a51-3b7f0e6d2c19", resourceVersion: "7", generation: 2 };
const wish = {
  kind: "TalosControlPlane" as const,
  metadata: { namespace: "default", name: "demo" },
  spec: { version: "v1.12.1", kubeVersion: "v1.34.0", mode: "metal" as const },
};

/** A pool that is `live`, and what is applied to it. */
function api(live: (call: number) => typeof meta): { readonly kube: KubeTransport; readonly versions: unknown[] } {
  const versions: unknown[] = [];
  let calls = 0;
  const failure = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Conflict", code: 409, message: "it was modified" };
  return {
    versions,
    kube: {
      async send({ method, body }) {
        const stored = live(calls++);
        if (method === "GET") return { status: 200, headers: {}, body: { ...wish, metadata: stored } };
        const { uid, resourceVersion } = (body as { readonly metadata: Partial<typeof meta> }).metadata;
        versions.push(resourceVersion);
        const isSame = resourceVersion === undefined || (uid === stored.uid && resourceVersion === stored.resourceVersion);
        return isSame
          ? { status: 200, headers: {}, body: { ...wish, metadata: { ...stored, resourceVersion: "100" } } }
          : { status: 409, headers: {}, body: failure };
      },
      watch: () => Promise.reject(new Error("nobody watches here")),
      close: () => undefined,
    },
  };
}

test("a pool whose status was written meanwhile is applied to its newest version", async () => {
  const { kube, versions } = api(() => ({ ...meta, resourceVersion: "9" }));
  const stored = await applyPool(createKubeClient(kube), wish, { metadata: meta }, "me");
  assert.equal(stored?.metadata.resourceVersion, "100");
  assert.deepEqual(versions, ["7", "9"]);
});

test("a pool whose spec was changed meanwhile, or that is another one by now, is left to the next pass", async () => {
  for (const other of [
    { resourceVersion: "9", generation: 3 },
    { resourceVersion: "9", uid: "another" },
  ]) {
    const { kube, versions } = api(() => ({ ...meta, ...other }));
    assert.equal(await applyPool(createKubeClient(kube), wish, { metadata: meta }, "me"), undefined);
    assert.deepEqual(versions, ["7"]);
  }
});

test("a pool whose status never stands still is left to the next pass after four tries", async () => {
  const { kube, versions } = api((call) => ({ ...meta, resourceVersion: String(1_000 + call) }));
  assert.equal(await applyPool(createKubeClient(kube), wish, { metadata: meta }, "me"), undefined);
  assert.equal(versions.length, 4);
});

test("a pool that is not there is made without a version", async () => {
  const { kube, versions } = api(() => meta);
  assert.ok(await applyPool(createKubeClient(kube), wish, undefined, "me"));
  assert.deepEqual(versions, [undefined]);
});
