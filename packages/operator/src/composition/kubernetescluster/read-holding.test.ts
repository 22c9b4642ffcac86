import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { normaliseCluster, type KubernetesCluster, type TalosControlPlane, type VitistackMachine } from "@talos-operator/api";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createFakeApi } from "@talos-operator/kube-runtime/testing";
import { configured, controlPlane, facts, NOW } from "../../testing/builders.ts";
import { printRecord } from "../../record/facts-codec.ts";
import { clusterDefaults } from "./defaults.ts";
import { machineAnnotations, machineLabels } from "./keys.ts";
import type { Seen } from "./model.ts";
import { readHolding } from "./read-holding.ts";
import type { ClusterFacts } from "../../model/record.ts";

const cluster: KubernetesCluster = {
  apiVersion: "vitistack.io/v1alpha1",
  kind: "KubernetesCluster",
  metadata: { namespace: "default", name: "demo", uid: "uid-1" },
  spec: {
    clusterName: "demo",
    clusterEndpoint: "https://10.0.0.100:6443",
    controlPlane: { replicas: 1, machineTemplate: { spec: {} } },
    workers: [{ name: "a", replicas: 1, machineTemplate: { spec: {} } }],
  },
};

/** A Machine of group `a` that Talos was installed on. */
function installed(index: number, address: string, over: Readonly<Record<string, string>> = {}): VitistackMachine {
  const labels = { [machineLabels.role]: "worker", [machineLabels.workerGroup]: "a" };
  const annotations = { [machineAnnotations.osInstalled]: "true", [machineAnnotations.nodeAddress]: address, ...over };
  const finalizers = ["cluster.vitistack.io/machine-in-use"];
  const metadata = { namespace: "default", name: `demo-a-${index}`, labels, annotations, finalizers };
  return { apiVersion: "vitistack.io/v1alpha1", kind: "Machine", metadata, spec: { provider: "test" } };
}

interface World {
  readonly record?: ClusterFacts;
  readonly controlPlane?: TalosControlPlane;
  readonly machines?: readonly VitistackMachine[];
}

async function held({ record, controlPlane: there, machines = [] }: World): Promise<readonly string[] | undefined> {
  const api = createFakeApi();
  const key = { namespace: "default", name: "demo" };
  if (there !== undefined) api.put("/apis/talos.alperen.cloud/v1alpha1/taloscontrolplanes", there);
  const writer = { identity: "a", fencingToken: "0/1" };
  if (record !== undefined) api.put("/apis/talos-operator.dev/v1alpha1/clusterrecords", printRecord(key, record, undefined, writer));
  const { model } = normaliseCluster(cluster, clusterDefaults({}));
  const names = await readHolding({ cluster, model, machines } as unknown as Seen, createKubeClient(api.transport()));
  return names === undefined ? undefined : [...names];
}

const founded: TalosControlPlane = { ...controlPlane(1), status: { state: "Bootstrapped" } };
const made = facts({ machines: [configured("10.0.0.1")] });
const anew = { ...made, bundle: { ...made.bundle, wasFound: true } };

describe("what Machines may hold a configuration", () => {
  it("says the record", async () => {
    assert.deepEqual(await held({ record: made, controlPlane: founded }), ["demo-10.0.0.1"]);
    const released = facts({ machines: [configured("10.0.0.1", "controlplane", "demo", { releasedAt: NOW })] });
    assert.deepEqual(await held({ record: released, controlPlane: founded }), []);
  });

  it("nobody knows while the record of a bootstrapped cluster is away", async () => {
    assert.equal(await held({ controlPlane: founded }), undefined);
  });

  it("is nothing before there is a record", async () => {
    assert.deepEqual(await held({ controlPlane: controlPlane(1) }), []);
    assert.deepEqual(await held({}), []);
  });

  it("says a Machine that was installed and that a record which was made anew does not know", async () => {
    const machines = [installed(0, "10.0.1.1")];
    assert.deepEqual(await held({ record: anew, controlPlane: founded, machines }), ["demo-10.0.0.1", "demo-a-demo-a-0"]);
    assert.deepEqual(await held({ record: made, controlPlane: founded, machines }), ["demo-10.0.0.1"]);
    const blank = [installed(0, "10.0.1.1", { [machineAnnotations.osInstalled]: "false" })];
    assert.deepEqual(await held({ record: anew, controlPlane: founded, machines: blank }), ["demo-10.0.0.1"]);
  });

  it("says no second Machine for a machine that is known", async () => {
    const twins = [installed(0, "10.0.1.1"), installed(1, "10.0.1.1"), installed(2, "10.0.0.1")];
    assert.deepEqual(await held({ record: anew, controlPlane: founded, machines: twins }), ["demo-10.0.0.1", "demo-a-demo-a-0"]);
  });
});
