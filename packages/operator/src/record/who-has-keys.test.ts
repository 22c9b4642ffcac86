import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { whoElseHasKeys } from "./who-has-keys.ts";

const clientWith = (...records: readonly { readonly namespace: string; readonly name: string }[]): KubeClient =>
  ({
    resource: () => ({ list: () => Promise.resolve({ items: records.map((metadata) => ({ metadata, spec: { clusterId: "id" } })) }) }),
  }) as unknown as KubeClient;
const own = { namespace: "team-a", name: "demo" };

for (const [what, record, want] of [
  ["its own record", own, { kind: "absent" }],
  ["a cluster beside it", { namespace: "team-a", name: "other" }, { kind: "present", value: "the cluster team-a/other" }],
  ["a cluster of another namespace", { namespace: "team-b", name: "demo" }, { kind: "present", value: "a cluster in another namespace" }],
] as const)
  test(`keys that ${what} has`, async () => {
    assert.deepEqual(await whoElseHasKeys("id", own, clientWith(record)), want);
  });
