import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { normaliseCluster } from "@talos-operator/api";
import type { KubernetesCluster } from "@talos-operator/api";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createFakeApi } from "@talos-operator/kube-runtime/testing";
import { askByName } from "./ask-by-name.ts";
import { decideComposition } from "./decide.ts";
import { clusterDefaults } from "./defaults.ts";
import type { Decision, Seen } from "./model.ts";

const going: KubernetesCluster = {
  apiVersion: "vitistack.io/v1alpha1",
  kind: "KubernetesCluster",
  metadata: {
    namespace: "default",
    name: "demo",
    uid: "uid-1",
    generation: 2,
    finalizers: ["cluster.vitistack.io/finalizer"],
    deletionTimestamp: "2026-01-01T00:05:00Z",
  },
  spec: {
    clusterName: "demo",
    clusterEndpoint: "https://10.0.0.100:6443",
    controlPlane: { replicas: 1, machineTemplate: { spec: {} } },
    workers: [{ name: "a", replicas: 1, machineTemplate: { spec: {} } }],
  },
};

/** A cluster that goes, of which no cache tells anything. */
function unlisted(): Seen {
  const { model, problems, inertFields, shape, resolvedVersions } = normaliseCluster(going, clusterDefaults({}));
  return {
    cluster: going,
    model,
    problems,
    inertFields,
    resolvedVersions,
    shape,
    olderTwin: undefined,
    machines: [],
    holderOf: () => undefined,
    controlPlane: undefined,
    workers: [],
    talosMachines: [],
    holding: undefined,
    now: 0,
    isPausedAfterFiles: false,
  };
}

function child(kind: string, name: string, uid: string): object {
  const owner = { apiVersion: going.apiVersion, kind: going.kind, name: "demo", uid, controller: true };
  return { apiVersion: "v1", kind, metadata: { namespace: "default", name, uid: `uid-${name}`, ownerReferences: [owner] }, spec: {} };
}

const paths = {
  TalosControlPlane: "/apis/talos.alperen.cloud/v1alpha1/taloscontrolplanes",
  TalosWorker: "/apis/talos.alperen.cloud/v1alpha1/talosworkers",
  Machine: "/apis/vitistack.io/v1alpha1/machines",
} as const;

async function decided(kind: keyof typeof paths, name: string, uid = "uid-1"): Promise<Decision> {
  const api = createFakeApi();
  api.put(paths[kind], child(kind, name, uid));
  return decideComposition(await askByName(unlisted(), createKubeClient(api.transport())));
}

describe("a cluster that goes, of which no list tells anything", () => {
  it("lets nothing go before it asked", () => {
    const { needsAsking, release, removeFiles, removeFinalizer } = decideComposition({ ...unlisted(), machines: [] });
    assert.deepEqual([needsAsking, release, removeFiles, removeFinalizer], [true, [], false, false]);
  });

  it("waits for the control plane that is there", async () => {
    const { deletePools, removeFinalizer } = await decided("TalosControlPlane", "demo");
    assert.deepEqual([deletePools.map(({ name }) => name), removeFinalizer], [["demo"], false]);
  });

  it("waits for the pool that is there", async () => {
    const { deletePools, removeFinalizer } = await decided("TalosWorker", "demo-a");
    assert.deepEqual([deletePools.map(({ name }) => name), removeFinalizer], [["demo-a"], false]);
  });

  it("lets go of the Machine that is there", async () => {
    const { release, removeFinalizer } = await decided("Machine", "demo-cp-0");
    assert.deepEqual([release.map(({ metadata }) => metadata.name), removeFinalizer], [["demo-cp-0"], false]);
  });

  it("ends when what is there belongs to others", async () => {
    for (const [kind, name] of [
      ["TalosControlPlane", "demo"],
      ["TalosWorker", "demo-a"],
      ["Machine", "demo-cp-0"],
    ] as const)
      assert.equal((await decided(kind, name, "uid-2")).removeFinalizer, true);
  });

  it("waits while nobody can say", async () => {
    const client = createKubeClient({
      call: () => Promise.reject(new Error("cut")),
    } as unknown as Parameters<typeof createKubeClient>[0]);
    await assert.rejects(askByName(unlisted(), client));
  });
});

describe("a cluster that stays, of whose Machines no list tells while their TalosMachines are there", () => {
  const { deletionTimestamp: _going, ...metadata } = going.metadata;
  const talosMachine = {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosMachine",
    spec: { endpoint: "10.0.0.1", version: "v1.13.9" },
  } as const;
  const staying = (): Seen => ({
    ...unlisted(),
    cluster: { ...going, metadata },
    talosMachines: [
      { ...talosMachine, metadata: { namespace: "default", name: "demo-demo-cp-0" } },
      { ...talosMachine, metadata: { namespace: "default", name: "demo-a-demo-a-0" } },
    ],
  });
  const namesAfter = async (machines: readonly object[]): Promise<readonly string[]> => {
    const api = createFakeApi();
    for (const machine of machines) api.put(paths.Machine, machine);
    return decideComposition(await askByName(staying(), createKubeClient(api.transport()))).apply.map((one) => one.metadata.name);
  };
  const labelled = (name: string, labels: Readonly<Record<string, string>>, over: object = {}): object => {
    const machine = child("Machine", name, "uid-1") as { readonly metadata: object };
    return { ...machine, metadata: { ...machine.metadata, labels, ...over } };
  };
  const first = { "cluster.vitistack.io/cluster-name": "demo", "cluster.vitistack.io/role": "controlplane" };
  const worker = { ...first, "cluster.vitistack.io/role": "worker", "cluster.vitistack.io/worker-group": "a" };

  it("makes none before it asked", () => {
    const { needsAsking, apply, applyPools } = decideComposition(staying());
    assert.deepEqual([needsAsking, apply, applyPools], [true, [], []]);
  });

  it("keeps those that are there", async () => {
    assert.deepEqual(await namesAfter([labelled("demo-cp-0", first), labelled("demo-a-0", worker)]), ["demo-cp-0", "demo-a-0"]);
  });

  it("makes others for those that are not, or that go", async () => {
    assert.deepEqual(await namesAfter([]), ["demo-cp-1", "demo-a-1"]);
    const isGoing = { deletionTimestamp: "2026-01-01T00:05:00Z", finalizers: ["a/b"] };
    assert.deepEqual(await namesAfter([labelled("demo-cp-0", first, isGoing), labelled("demo-a-0", worker)]), ["demo-cp-1", "demo-a-0"]);
  });
});
