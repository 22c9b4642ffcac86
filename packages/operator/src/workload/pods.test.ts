import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodObject } from "./kinds.ts";
import { podsToLeave, podText } from "./pods.ts";

const pod = (name: string, over: Partial<PodObject> & { readonly metadata?: PodObject["metadata"] } = {}): PodObject => ({
  spec: { nodeName: "a" },
  status: { phase: "Running" },
  ...over,
  metadata: { namespace: "shop", name, ...over.metadata },
});
const owner = (kind: string, controller: boolean): PodObject["metadata"] => ({
  name: kind,
  ownerReferences: [{ apiVersion: "apps/v1", kind, name: "owner", uid: "1", controller }],
});

test("static pods, pods of DaemonSets and finished pods stay; everything else has to leave", () => {
  const pods = [
    pod("web", { metadata: owner("ReplicaSet", true) }),
    pod("agent", { metadata: owner("DaemonSet", true) }),
    pod("kept-by-one", { metadata: { ...owner("DaemonSet", false), name: "kept-by-one" } }),
    pod("etcd", { metadata: { name: "etcd", annotations: { "kubernetes.io/config.mirror": "x" } } }),
    pod("done", { status: { phase: "Succeeded" } }),
    pod("failed", { status: { phase: "Failed" } }),
    pod("pending", { status: { phase: "Pending" } }),
    pod("bare"),
    pod("elsewhere", { spec: { nodeName: "b" } }),
    pod("going", { metadata: { name: "going", deletionTimestamp: "2026-01-01T00:00:00Z" } }),
    pod("agent-going", { metadata: { ...owner("DaemonSet", true), name: "agent-going", deletionTimestamp: "2026-01-01T00:00:00Z" } }),
  ];
  const { toEvict, leaving } = podsToLeave(pods, "a");
  assert.deepEqual(toEvict.map(podText), ["shop/ReplicaSet", "shop/bare", "shop/kept-by-one", "shop/pending"]);
  assert.deepEqual(leaving.map(podText), ["shop/going"]);
});

test("an empty Node has nothing to leave", () => assert.deepEqual(podsToLeave([], "a"), { toEvict: [], leaving: [] }));
