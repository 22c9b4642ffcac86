import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosCaches } from "../controllers/shared/controller-ports.ts";
import { controlPlane } from "../testing/builders.ts";
import { Surroundings } from "./surroundings.ts";

const key = { namespace: "default", name: "demo" };
const owner = { apiVersion: "talos.alperen.cloud/v1alpha1", kind: "TalosCluster", name: "demo", uid: "maker", controller: true };
const made = controlPlane(1, {}, { ownerReferences: [owner] });

/** Whether the TalosCluster of this name counts as a parent that is being deleted. */
function isParentGoing(uid: string, deletionTimestamp?: string): boolean {
  const cluster = { metadata: { ...key, uid, ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }) } };
  const caches = { talosClusters: { store: { get: () => cluster } } } as unknown as TalosCaches;
  return new Surroundings(caches).isParentGoing(key, made);
}

test("the cluster that made a control plane is its parent, and one of the same name that did not is none", () => {
  const now = "2026-01-01T00:00:00Z";
  assert.deepEqual([isParentGoing("maker", now), isParentGoing("another", now)], [true, false]);
});

test("a control plane whose cluster stays is not on its way out", () => assert.equal(isParentGoing("maker"), false));
