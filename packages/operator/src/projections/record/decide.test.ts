import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations } from "@talos-operator/api";
import type { ClusterRecord } from "@talos-operator/api";
import { decideRecord } from "./decide.ts";

const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" };
const said = (value: string): object => ({ annotations: { [annotations.releaseKeys]: value } });

function record(metadata: object, clusterId = "id="): ClusterRecord {
  const spec = { clusterId, bundle: { secretName: "demo-bundle-1", fingerprint: "f" } };
  return {
    apiVersion: "talos-operator.dev/v1alpha1",
    kind: "ClusterRecord",
    metadata: { name: "demo", ...metadata },
    spec,
  } as ClusterRecord;
}

for (const [what, one, hasControlPlane, want] of [
  ["that nobody deletes says nothing", record({}), false, "nothing"],
  ["that nobody deletes stays, whatever it is annotated with", record(said("id=")), false, "nothing"],
  ["of a cluster that is there is that cluster's matter", record({ ...deleted, ...said("id=") }), true, "nothing"],
  ["that is deleted says what it waits for", record(deleted), false, "hold"],
  ["is not let go by the word for another cluster", record({ ...deleted, ...said("demo") }), false, "hold"],
  ["that names no cluster is not let go by an empty word", record({ ...deleted, ...said("") }, ""), false, "hold"],
  ["is let go by the word for this cluster", record({ ...deleted, ...said("id=") }), false, "release"],
] as const)
  test(`the record of a preserved cluster ${what}`, () => assert.equal(decideRecord(one, hasControlPlane).kind, want));
