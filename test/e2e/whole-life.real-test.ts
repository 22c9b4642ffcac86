// Genuine parts: etcd, kube-apiserver, kube-controller-manager, kubectl
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { until } from "@talos-operator/adapters/testing";
import { talosClusterResource, talosControlPlaneResource } from "@talos-operator/api";
import type { Condition } from "@talos-operator/api";
import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import { startFleet, watchQuorum, type Fleet } from "./fleet.ts";

const controlPlanes = ["127.1.0.1", "127.1.0.2", "127.1.0.3"];
const workers = ["127.1.0.4"];

/**
 * On a genuine kube-apiserver the leader of two replicas is killed while the reboot of a control plane is open in the ClusterRecord. The other replica
 * finishes the rollout. What a crash does inside a single call, and in every other procedure, is played in virtual time.
 */
describe("a leader that is killed while an effect is open", { concurrency: false }, () => {
  let fleet: Fleet;
  let quorum: { end(): void };
  let effectsBefore = 0;
  const condition = async (type: ResourceType, wanted: string): Promise<Condition | undefined> => {
    const object = await fleet.client.resource<Conditioned>(type).tryGet({ namespace: "default", name: "demo" });
    return object?.status?.conditions?.find((one) => one.type === wanted && one.observedGeneration === object.metadata?.generation);
  };
  const open = async (): Promise<readonly string[]> => {
    const record = await fleet.record("demo");
    return [record?.openControlPlaneIntent, ...(record?.openWorkerIntents ?? [])].flatMap((intent) => intent?.what ?? []);
  };
  const reaches = async (what: string, type: ResourceType, wanted: string, holds: (seen: Condition) => boolean): Promise<void> => {
    let seen: Condition | undefined;
    const look = async (): Promise<boolean> => (seen = await condition(type, wanted)) !== undefined && holds(seen);
    await until(what, look, () => `${JSON.stringify(seen)}\n${fleet.logs()}`);
  };

  before(async () => {
    fleet = await startFleet(4, 1);
    await fleet.apply(cluster());
    await reaches("Ready", talosClusterResource, "Ready", ({ status }) => status === "True");
    effectsBefore = fleet.effects(...controlPlanes).length;
    quorum = watchQuorum(fleet, controlPlanes);
    await fleet.apply(cluster({ cluster: { etcd: { extraArgs: { "quota-backend-bytes": "4294967296" } } } }));
    let resume = (): void => undefined;
    // Machines that stand still tell nobody that a reboot is over, however long the rest takes.
    await until("the reboot of a control plane is open", async () => {
      if (!(await open()).includes("Reboot")) return false;
      resume = fleet.holdMachines();
      if ((await open()).includes("Reboot")) return true;
      resume();
      return false;
    });
    await fleet.killLeader();
    assert.ok((await open()).includes("Reboot"));
    resume();
  });
  after(async () => fleet?.[Symbol.asyncDispose]());

  it("is followed by the other replica, which finishes", async () => {
    await reaches("rolled out", talosControlPlaneResource, "ConfigUpToDate", ({ reason }) => reason === "UpToDate");
    await until("nothing is open", async () => (await open()).length === 0, open);
    await reaches("Ready again", talosClusterResource, "Ready", ({ status }) => status === "True");
    for (const address of controlPlanes) assert.match(fleet.machine(address).config.active ?? "", /quota-backend-bytes/);
  });

  it("cost no quorum, no second etcd and no machine", () => {
    quorum.end();
    assert.equal(fleet.etcds().length, 1);
    const effects = fleet.effects(...controlPlanes, ...workers);
    assert.equal(effects.filter((effect) => effect.startsWith("Bootstrap ")).length, 1);
    const since = fleet.effects(...controlPlanes).slice(effectsBefore);
    assert.deepEqual(
      since.filter((effect) => !/^(ApplyConfiguration|Reboot|EtcdForfeitLeadership) /.test(effect)),
      [],
    );
    for (const address of controlPlanes) assert.ok(since.includes(`Reboot ${address}`), address);
  });
});

interface Conditioned extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

function cluster(patch?: object): object {
  const common = { version: "v1.13.9", kubeVersion: "v1.36.3", mode: "metal" };
  const pool = (machines: readonly string[], patches: readonly object[] = []): object => ({
    machines: machines.map((address) => ({ address })),
    machineSpec: { installDisk: "/dev/sda", ...(patches.length === 0 ? {} : { configPatches: patches }) },
  });
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosCluster",
    metadata: { name: "demo", namespace: "default" },
    spec: {
      controlPlane: { ...common, endpoint: "https://127.1.0.101:6443", metalSpec: pool(controlPlanes, patch === undefined ? [] : [patch]) },
      worker: { ...common, metalSpec: pool(workers) },
    },
  };
}
