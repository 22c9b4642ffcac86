import assert from "node:assert/strict";
import type { KubeTransport } from "@talos-operator/ports";
import { clusterRecordResource } from "../kinds/cluster-record.ts";
import type { ClusterRecord, ClusterRecordSpec, MachineIdentity, OpenIntent, OpenSnapshot } from "../kinds/cluster-record.ts";

const path = `/apis/${clusterRecordResource.group}/${clusterRecordResource.version}/namespaces/default/${clusterRecordResource.plural}`;
const machine: MachineIdentity = { name: "demo-10.0.0.11", uuid: "11111111-0000-4000-8000-000000000001", address: "10.0.0.11" };
const intent: OpenIntent = {
  id: "1",
  what: "Reset",
  why: "the machine left the list",
  machine,
  at: "2026-01-02T03:04:05Z",
  by: "operator-0",
  deadline: "2026-01-02T03:05:05Z",
  fencingToken: "lease/1",
};
const { id: _id, what: _what, why: _why, ...bootstrapIntent } = intent;
const done = { at: "2026-01-02T03:06:05Z", machine, evidence: "member list of demo-10.0.0.11" };
const full: ClusterRecordSpec = {
  controlPlaneUid: "uid-1",
  clusterId: "abc=",
  bundle: { secretName: "demo-bundle-1", fingerprint: "sha256:1" },
  bootstrap: { intent: bootstrapIntent, done },
  knownControlPlanes: [{ ...machine, spki: "x=", macs: ["00:00:5e:00:53:01"], pinnedAt: done.at, configuredAt: done.at }],
  openControlPlaneIntent: intent,
};
const snapshot: OpenSnapshot = {
  machine: machine.name,
  run: "run-1",
  backup: { namespace: "default", name: "nightly" },
  at: done.at,
  by: "operator-0",
  deadline: "2026-01-02T04:06:05Z",
};
const without = (...keys: readonly (keyof ClusterRecordSpec)[]) =>
  Object.fromEntries(Object.entries(full).filter(([key]) => !(keys as readonly string[]).includes(key))) as unknown as ClusterRecordSpec;

/** A record is created with one spec and updated to another. */
export interface RecordRuleCase {
  readonly name: string;
  /** Default: a record with everything in it. */
  readonly from?: ClusterRecordSpec;
  readonly to: ClusterRecordSpec;
  /** What the refusal says; absent when the update is taken. */
  readonly refused?: RegExp;
}

/** Each transition rule of the ClusterRecord, kept and broken. */
export const recordRuleCases: readonly RecordRuleCase[] = [
  { name: "takes the same again", to: full },
  { name: "closes an intent", to: without("openControlPlaneIntent") },
  { name: "opens an intent when none is open", from: without("openControlPlaneIntent"), to: full },
  {
    name: "refuses a second intent while one is open",
    to: { ...full, openControlPlaneIntent: { ...intent, id: "2" } },
    refused: /intent is open/,
  },
  {
    name: "begins a snapshot while no intent is open",
    from: without("openControlPlaneIntent"),
    to: { ...without("openControlPlaneIntent"), snapshot },
  },
  { name: "refuses a snapshot while an intent is open", to: { ...full, snapshot }, refused: /a snapshot waits until that is over/ },
  {
    name: "opens an intent beside a snapshot whose deadline has passed, until somebody takes it away",
    from: { ...without("openControlPlaneIntent"), snapshot },
    to: { ...full, snapshot },
  },
  {
    name: "refuses another snapshot in place of that one meanwhile",
    from: { ...full, snapshot },
    to: { ...full, snapshot: { ...snapshot, run: "run-2" } },
    refused: /a snapshot waits until that is over/,
  },
  { name: "names the cluster once", from: { controlPlaneUid: "uid-1" }, to: full },
  { name: "refuses another cluster.id", to: { ...full, clusterId: "def=" }, refused: /clusterId is set once/ },
  { name: "refuses to forget the cluster.id", to: without("clusterId"), refused: /clusterId is set once/ },
  { name: "takes the next bundle of a rotation", to: { ...full, bundle: { secretName: "demo-bundle-2", fingerprint: "sha256:2" } } },
  { name: "refuses to forget the bundle", to: without("bundle"), refused: /bundle cannot be removed/ },
  { name: "refuses to forget the bootstrap", to: without("bootstrap"), refused: /etcd is bootstrapped once/ },
  {
    name: "refuses to take the bootstrap back to an intent",
    to: { ...full, bootstrap: { intent: bootstrapIntent } },
    refused: /etcd is bootstrapped once/,
  },
  {
    name: "refuses another bootstrap",
    to: { ...full, bootstrap: { done: { ...done, at: "2026-02-02T03:06:05Z" } } },
    refused: /etcd is bootstrapped once/,
  },
  { name: "may drop the intent once the fact stands", to: { ...full, bootstrap: { done } } },
  {
    name: "refuses more decisions than it keeps",
    to: { ...full, decisions: Array.from({ length: 51 }, () => ({ at: done.at, action: "A", reason: "B" })) },
    refused: /must have at most 50 items/,
  },
];

/** Runs one case against a Kubernetes API with the CRD installed, and asserts its outcome. `name` must be free in namespace `default`. */
export async function assertRecordRule(
  transport: KubeTransport,
  name: string,
  { from = full, to, refused }: RecordRuleCase,
): Promise<void> {
  const record: ClusterRecord = { apiVersion: "talos-operator.dev/v1alpha1", kind: "ClusterRecord", metadata: { name }, spec: from };
  const query = { fieldValidation: "Strict" };
  const created = await transport.send({ method: "POST", path, query, body: record });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const { metadata } = created.body as ClusterRecord;
  const updated = await transport.send({ method: "PUT", path: `${path}/${name}`, query, body: { ...record, metadata, spec: to } });
  assert.equal(updated.status, refused === undefined ? 200 : 422, JSON.stringify(updated.body));
  if (refused !== undefined) assert.match((updated.body as { message: string }).message, refused);
}
