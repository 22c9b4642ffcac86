import assert from "node:assert/strict";
import { test } from "node:test";
import { findingsAt, repeated, withAdded, written } from "./written-fields.ts";
import type { WrittenFields } from "./written-fields.ts";

const ofCluster: WrittenFields = { spec: "spec.controlPlane", "spec.ips": "spec.ips" };
const ofComposition: WrittenFields = {
  "spec.version": "spec.talosVersion",
  "spec.metalSpec.machineSpec.image": "spec.talosConfig.install.image",
};

const cases: readonly { readonly name: string; readonly fields?: WrittenFields; readonly says: string; readonly want: string }[] = [
  { name: "stays where the pool is what the person wrote", says: "spec.version: it is none.", want: "spec.version: it is none." },
  {
    name: "is named below the field that describes the pool",
    fields: ofCluster,
    says: "spec.version: no.",
    want: "spec.controlPlane.version: no.",
  },
  {
    name: "is named at each place, with its index",
    fields: ofCluster,
    says: "spec.metalSpec.machines[1].address and spec.endpoint. Correct spec.endpoint.",
    want: "spec.controlPlane.metalSpec.machines[1].address and spec.controlPlane.endpoint. Correct spec.controlPlane.endpoint.",
  },
  { name: "is named by the longest field that fits", fields: ofCluster, says: "spec.ips holds x", want: "spec.ips holds x" },
  {
    name: "is another one where only its beginning is the same",
    fields: ofCluster,
    says: "spec.ipsec is on",
    want: "spec.controlPlane.ipsec is on",
  },
  {
    name: "of another object stays",
    fields: ofCluster,
    says: "status.spec.y, a.spec.z and TalosMachine/m-1 spec.endpoint",
    want: "status.spec.y, a.spec.z and TalosMachine/m-1 spec.endpoint",
  },
  {
    name: "of a pool of another cluster stays, and its own beside it does not",
    fields: ofCluster,
    says: 'spec.metalSpec.machines[0].address: "10.0.0.2" is also at TalosWorker default/one spec.metalSpec.machines[0].address',
    want: 'spec.controlPlane.metalSpec.machines[0].address: "10.0.0.2" is also at TalosWorker default/one spec.metalSpec.machines[0].address',
  },
  {
    name: "that a pool is said to have is its own",
    fields: ofCluster,
    says: "TalosControlPlane demo: spec.version: no.",
    want: "TalosControlPlane demo: spec.controlPlane.version: no.",
  },
  { name: "has another name", fields: ofComposition, says: "spec.version: no.", want: "spec.talosVersion: no." },
  {
    name: "without another name stays",
    fields: ofComposition,
    says: "spec.metalSpec.machineSpec.image, spec.metalSpec.machines[0]",
    want: "spec.talosConfig.install.image, spec.metalSpec.machines[0]",
  },
];

for (const { name, fields, says, want } of cases)
  test(`written fields: a field of a pool ${name}`, () => {
    assert.equal(written(says, fields), want);
  });

test("written fields: a field of another object stays one when a pool repeats what that says, and a cluster what the pool says", () => {
  const ofPool = `It waits. ${repeated("spec.backupStorage.s3.endpoint: http.", "TalosEtcdBackup/nightly-1")} See spec.version.`;
  const want = "It waits. TalosEtcdBackup/nightly-1 spec.backupStorage.s3.endpoint: http. See spec.controlPlane.version.";
  assert.equal(written(ofPool, ofCluster), want);
});

test("written fields: a finding is reported at the field of the cluster, and names the others that are alike there, too", () => {
  const finding = {
    field: "spec.metalSpec.machines[0]",
    message: "no (alike: spec.metalSpec.machines[1])",
    remedy: "Correct it",
    reason: "InvalidConfig",
  } as const;
  const [found] = findingsAt([finding], "spec.worker");
  assert.deepEqual([found?.field, found?.message], ["spec.worker.metalSpec.machines[0]", "no (alike: spec.worker.metalSpec.machines[1])"]);
});

test("written fields: what a person added to a pool is named in the pool, and what its owner wrote, or left out, in the owner", () => {
  const wanted = { version: "v1", metalSpec: { machines: [{ address: "a" }], machineSpec: { wipe: true } } };
  const stored = { ...wanted, cni: { name: "x" }, metalSpec: { ...wanted.metalSpec, machineSpec: { wipe: true, configPatches: [{}] } } };
  const fields = withAdded(ofCluster, stored, wanted);
  const patches = "spec.metalSpec.machineSpec.configPatches[0]: no. See spec.cni.name.";
  assert.equal(written(patches, fields), patches);
  assert.equal(
    written("spec.version, spec.metalSpec.machineSpec.wipe, spec.metalSpec.machines[0].address, spec.endpoint", fields),
    "spec.controlPlane.version, spec.controlPlane.metalSpec.machineSpec.wipe, spec.controlPlane.metalSpec.machines[0].address, spec.controlPlane.endpoint",
  );
  assert.equal(withAdded(ofCluster, stored, undefined), ofCluster);
});
