import assert from "node:assert/strict";
import { test } from "node:test";
import { clusterRecordResource, finalizers } from "@talos-operator/api";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createFakeApi, createMemoryLog } from "@talos-operator/kube-runtime/testing";
import type { Leading } from "../leading.ts";
import type { BundleStore, StoredBundle } from "../secrets/bundle-store.ts";
import { controlPlane, facts, NOW, observed } from "../testing/builders.ts";
import { LateRecords } from "./late-records.ts";
import type { Decision } from "../model/decision.ts";

const key = { namespace: "default", name: "demo" };
const collection = `/apis/${clusterRecordResource.group}/${clusterRecordResource.version}/${clusterRecordResource.plural}`;
const known = facts();

/** Whether a record that turns up after its cluster was deleted stays. */
async function stays(over: {
  readonly clusterId?: string;
  readonly keys?: boolean;
  readonly uid?: string;
  readonly leads?: boolean;
}): Promise<boolean> {
  const { clusterId = known.clusterId, keys = false, leads = true } = over;
  const api = createFakeApi();
  const bundles = { read: async () => (keys ? ({ clusterId } as StoredBundle) : undefined) } as unknown as BundleStore;
  const leading = { confirm: async () => leads } as Leading;
  const ports = { client: createKubeClient(api.transport()), clock: { now: () => NOW }, leading, log: createMemoryLog() };
  const late = new LateRecords(ports, bundles);
  const seen = observed({ controlPlane: controlPlane(1, {}, { uid: "first" }), facts: known });
  late.decided(key, seen, { actions: [{ kind: "DeleteRecord" }] } as unknown as Decision);
  api.put(collection, { metadata: { ...key, finalizers: [finalizers.clusterRecord] }, spec: { clusterId } } as never);
  await late.remove(key, over.uid);
  return api.objects(collection).length > 0;
}

test("a record that arrives after its cluster was deleted is removed", async () => assert.equal(await stays({}), false));

for (const [what, over] of [
  ["names another cluster, made in the meantime under this name", { clusterId: "another", uid: "second" }],
  ["names keys that are there, for somebody brought it back", { keys: true }],
  ["belongs to the object that is there still", { uid: "first" }],
  ["is seen by a process that does not lead any more", { leads: false }],
] as const)
  test(`a record stays that ${what}`, async () => assert.equal(await stays(over), true));
