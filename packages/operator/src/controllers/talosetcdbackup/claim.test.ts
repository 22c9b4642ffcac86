import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterRecord } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { claimOf, claimSnapshot, releaseSnapshot } from "./claim.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const cluster = { namespace: "default", name: "demo" };
const claim = claimOf("r-1", "demo-1", { namespace: "default", name: "b" }, "operator", NOW, 60_000);

/** A client whose API has one record, and what was written to it. */
function world(spec: Partial<ClusterRecord["spec"]>): { readonly client: KubeClient; readonly writes: unknown[] } {
  const writes: unknown[] = [];
  const record = {
    apiVersion: "talos-operator.dev/v1alpha1",
    kind: "ClusterRecord",
    metadata: { ...cluster, resourceVersion: "7" },
    spec,
  };
  const records = { tryGet: async () => record, patch: async (...write: readonly unknown[]) => void writes.push(write) };
  return { client: { resource: () => records } as unknown as KubeClient, writes };
}

const later = { fieldOfTomorrow: 1 } as Partial<ClusterRecord["spec"]>;

test("a snapshot is claimed in a record of this release, and in none of a newer one (S33)", async () => {
  for (const [spec, isWritten] of [
    [{}, true],
    [later, false],
  ] as const) {
    const { client, writes } = world(spec);
    assert.deepEqual([await claimSnapshot(cluster, claim, client, NOW), writes.length], [isWritten, Number(isWritten)]);
  }
});

test("the claim of a snapshot is taken off a record of this release, and left to its deadline in one of a newer one (S33)", async () => {
  for (const [spec, written] of [
    [{}, 1],
    [later, 0],
  ] as const) {
    const { client, writes } = world({ ...spec, snapshot: claim });
    assert.deepEqual([await releaseSnapshot(cluster, "r-1", client), writes.length], [true, written]);
  }
});
