import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosMachine } from "@talos-operator/api";
import { KubeApiError } from "@talos-operator/kube-runtime";
import type { ResourceClient } from "@talos-operator/kube-runtime";
import { createMachineLabeller, machineLabels } from "./machine-labels.ts";

const worker = { role: "worker", cluster: "demo", pool: "demo-workers" } as const;
const wanted = { "talos-operator.dev/cluster": "demo", "talos-operator.dev/role": "worker", "talos-operator.dev/pool": "demo-workers" };

function machine(labels: Readonly<Record<string, string>>, over: Partial<TalosMachine["metadata"]> = {}): TalosMachine {
  const metadata = { namespace: "default", name: "demo-workers-10.0.1.1", uid: "a", resourceVersion: "7", labels, ...over };
  return { apiVersion: "talos.alperen.cloud/v1alpha1", kind: "TalosMachine", metadata };
}

function labeller(fails: readonly unknown[] = []): { readonly patches: unknown[]; readonly label: (one: TalosMachine) => Promise<void> } {
  const patches: unknown[] = [];
  const failures = [...fails];
  const client = {
    async patch(_key: unknown, { value }: { readonly value: unknown }) {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      patches.push(value);
    },
  } as unknown as ResourceClient<TalosMachine>;
  const made = createMachineLabeller(client, ({ metadata }) => metadata.name);
  return { patches, label: (one) => made.label(one, worker) };
}

test("labels: cluster, role and pool, each where it is known and as a label can be", () => {
  assert.deepEqual(machineLabels(worker), wanted);
  assert.deepEqual(machineLabels({ role: "controlplane", cluster: "demo", pool: undefined }), {
    "talos-operator.dev/cluster": "demo",
    "talos-operator.dev/role": "controlplane",
  });
  assert.deepEqual(machineLabels({ role: undefined, cluster: undefined, pool: undefined }), {});
  const [long] = Object.values(machineLabels({ role: undefined, cluster: `${"a".repeat(62)}.b`, pool: undefined }));
  assert.equal(long, "a".repeat(62));
});

test("labels: what is there stays, what is missing is written once", async () => {
  const { patches, label } = labeller();
  await label(machine({ ...wanted, team: "a" }));
  assert.deepEqual(patches, []);
  await label(machine({ "talos-operator.dev/role": "worker", team: "a" }));
  assert.deepEqual(patches, [{ metadata: { resourceVersion: "7", labels: wanted } }]);
});

test("labels: somebody who takes them off again is not written against", async () => {
  const { patches, label } = labeller();
  await label(machine({}));
  await label(machine({}));
  assert.equal(patches.length, 1);
  await label(machine({}, { uid: "b" }));
  assert.equal(patches.length, 2);
});

test("labels: a machine that goes is left alone, and one that changed meanwhile is labelled later", async () => {
  const conflict = new KubeApiError("CONFLICT", { call: "patch talosmachines", detail: "changed" });
  const { patches, label } = labeller([conflict]);
  await label(machine({}, { deletionTimestamp: "2026-01-01T00:00:00Z" }));
  await label(machine({}));
  assert.deepEqual(patches, []);
  await label(machine({}));
  assert.equal(patches.length, 1);
});
