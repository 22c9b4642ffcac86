// Genuine parts: etcd, kube-apiserver, kube-controller-manager
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createX509Keys, systemClock, systemTimers } from "@talos-operator/adapters";
import { until } from "@talos-operator/adapters/testing";
import { KubeApiError } from "@talos-operator/kube-runtime";
import type { KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import { createHttpsWorkloadDialer } from "@talos-operator/kube-runtime/https";
import { cordon, uncordon } from "./cordon.ts";
import { runDrain } from "./drain-run.ts";
import { evict } from "./evict.ts";
import { budgetType, claimType, nodeType, podType, volumeAttachmentType } from "./kinds.ts";
import type { NodeObject, PodObject } from "./kinds.ts";
import { deleteNodeObject } from "./node-objects.ts";
import { readDrainObjects } from "./read-drain-objects.ts";
import { seenNode, CORDON_MARK, UPGRADE_TAINT } from "./seen-node.ts";
import { putUpgradeTaint, takeUpgradeTaintOff } from "./upgrade-taint.ts";
import { startGenuineCluster } from "./testing/adapters/genuine-cluster.ts";
import type { GenuineCluster } from "./testing/adapters/genuine-cluster.ts";
import { openWorkloadApi } from "./workload-api.ts";
import type { WorkloadApi, WorkloadUser } from "./workload-api.ts";
import type { DrainState } from "../model/workload.ts";

const secretType: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };
const options = { timeoutMs: 30_000 };
const first = { uuid: "11111111-2222-3333-4444-555555555555", address: "10.5.0.1" };
const second = { uuid: "99999999-2222-3333-4444-555555555555", address: "10.5.0.2" };
const third = { uuid: "33333333-2222-3333-4444-555555555555", address: "10.5.0.3" };
const fourth = { uuid: "44444444-2222-3333-4444-555555555555", address: "10.5.0.4" };
const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "no error";
  } catch (thrown) {
    if (thrown instanceof KubeApiError) return thrown.code;
    throw thrown;
  }
}

describe("drains on a genuine kube-apiserver", () => {
  let cluster: GenuineCluster;
  const opened: WorkloadApi[] = [];

  const open = async (user: WorkloadUser): Promise<WorkloadApi> => {
    const ports = { dialer: createHttpsWorkloadDialer(), keys: createX509Keys(), clock: systemClock };
    const place = {
      addresses: () => [cluster.address],
      endpoint: "https://127.0.0.1:1",
      authority: () => Promise.resolve(cluster.authority),
    };
    const api = await openWorkloadApi(user, place, ports);
    opened.push(api);
    return api;
  };
  const node = async (name: string, owner: typeof first, ready = "True"): Promise<void> => {
    const nodes = cluster.admin.resource<NodeObject>(nodeType);
    await nodes.create({ metadata: { name } });
    const status = {
      addresses: [{ type: "InternalIP", address: owner.address }],
      conditions: [{ type: "Ready", status: ready }],
      nodeInfo: { systemUUID: owner.uuid },
    };
    await nodes.patchStatus({ name }, { type: "merge", value: { status } });
  };
  const pod = async (name: string, nodeName: string, app: string): Promise<void> => {
    const pods = cluster.admin.resource<PodObject>(podType);
    const containers = [{ name: "main", image: "example.com/web:1" }];
    await pods.create({ metadata: { namespace: "default", name, labels: { app } }, spec: { nodeName, containers } } as PodObject);
    const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
    await pods.patchStatus({ namespace: "default", name }, { type: "merge", value: { status } });
  };
  /** Deletes the pods that are on their way out, as their kubelet would. */
  const reap = async (): Promise<void> => {
    const pods = cluster.admin.resource<PodObject>(podType);
    for (const { metadata } of (await pods.list({ namespace: "default" })).items)
      if (metadata?.deletionTimestamp !== undefined)
        await pods.delete({ namespace: "default", name: metadata.name ?? "" }, { gracePeriodSeconds: 0 });
  };

  before(async () => {
    cluster = await startGenuineCluster();
    await until("service account", () =>
      cluster.admin
        .resource({ group: "", version: "v1", plural: "serviceaccounts", kind: "ServiceAccount", namespaced: true })
        .tryGet({ namespace: "default", name: "default" }),
    );
    await node("first", first);
    await node("second", second);
  });
  after(async () => {
    for (const api of opened) api.close();
    await cluster?.close();
  });

  it("waits for a budget that it names, goes on when it is released, and counts a pod only when it is gone", async () => {
    await pod("web", "first", "web");
    await pod("other", "second", "other");
    await cluster.admin.resource(budgetType).create({
      metadata: { namespace: "default", name: "web-budget" },
      spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } },
    } as KubeObject);
    await until("the controller has looked at the budget", async () => {
      const budget = await cluster.admin
        .resource<KubeObject & { status?: { expectedPods?: number } }>(budgetType)
        .get({ namespace: "default", name: "web-budget" });
      return budget.status?.expectedPods === 1 ? budget : undefined;
    });
    const states: DrainState[] = [];
    const abort = new AbortController();
    const done = runDrain(first, "demo/first", {
      nodeName: () => Promise.resolve("first"),
      open,
      demand: () => Promise.resolve(60_000),
      clock: systemClock,
      timers: systemTimers,
      log,
      signal: abort.signal,
      report: (state) => states.push(state),
      passed: () => undefined,
      cordoned: () => undefined,
    });
    const reaches = (what: string, holds: (state: DrainState | undefined) => boolean): Promise<unknown> =>
      until(
        what,
        () => holds(states.at(-1)),
        () => states.at(-1),
      );
    await reaches("blocked", (state) => state?.kind === "evicting" && state.blocked.length === 1);
    const seen = states.at(-1);
    assert.deepEqual(seen?.kind === "evicting" && seen.blocked, [{ pod: "default/web", budget: "default/web-budget" }]);
    const cordoned = await cluster.admin.resource<NodeObject>(nodeType).get({ name: "first" });
    assert.equal(cordoned.spec?.unschedulable, true);
    assert.equal(cordoned.metadata?.annotations?.[CORDON_MARK], "demo/first");

    await cluster.admin.resource(budgetType).delete({ namespace: "default", name: "web-budget" });
    await reaches("leaving", (state) => state?.kind === "evicting" && state.leaving.length === 1);
    assert.deepEqual(
      states.some((state) => state.kind === "drained"),
      false,
    );
    await reap();
    await reaches("drained", (state) => state?.kind === "drained");
    await done;
    const names = (await cluster.admin.resource(podType).list({ namespace: "default" })).items.map((one) => one.metadata?.name);
    assert.deepEqual(names, ["other"]);
  });

  it("ends when volumes of pods that left are detached, whatever pods that stay have attached", async () => {
    await node("fourth", fourth);
    const pods = cluster.admin.resource<PodObject>(podType);
    const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "agent" } }];
    const spec = { nodeName: "fourth", containers: [{ name: "main", image: "example.com/agent:1" }], volumes };
    const daemon = {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      name: "agent",
      uid: "11111111-0000-0000-0000-000000000000",
      controller: true,
    };
    await pods.create({ metadata: { namespace: "default", name: "agent", ownerReferences: [daemon] }, spec });
    const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, volumeName: "pv-agent" };
    await cluster.admin.resource(claimType).create({ metadata: { namespace: "default", name: "agent" }, spec: claim } as KubeObject);
    const attachments = cluster.admin.resource(volumeAttachmentType);
    for (const volume of ["pv-agent", "pv-web"]) {
      const source = { persistentVolumeName: volume };
      const attached = { attacher: "csi.example.com", nodeName: "fourth", source };
      await attachments.create({ metadata: { name: volume }, spec: attached } as KubeObject);
      await attachments.patchStatus({ name: volume }, { type: "merge", value: { status: { attached: true } } });
    }
    const kubelet = await open({ kind: "node", name: "fourth" });
    assert.equal(await codeOf(kubelet.client.resource(volumeAttachmentType).list()), "FORBIDDEN", "which is why another user asks");
    const attacher = await open({ kind: "volumes" });
    assert.equal(await codeOf(attacher.client.resource(secretType).list({ namespace: "kube-system" })), "FORBIDDEN");
    const states: DrainState[] = [];
    const done = runDrain(fourth, "demo/fourth", {
      nodeName: () => Promise.resolve("fourth"),
      open,
      demand: () => Promise.resolve(60_000),
      clock: systemClock,
      timers: systemTimers,
      log,
      signal: new AbortController().signal,
      report: (state) => states.push(state),
      passed: () => undefined,
      cordoned: () => undefined,
    });
    await until(
      "detaching",
      () => states.at(-1)?.kind === "detaching",
      () => states.at(-1),
    );
    assert.deepEqual(states.at(-1), { kind: "detaching", volumesLeft: 1, volumes: ["pv-web"] });
    await attachments.delete({ name: "pv-web" });
    await done;
    const last = states.at(-1);
    assert.equal(last?.kind, "drained");
    assert.ok(last?.kind === "drained" && last.volumesUnknown === undefined);
    await pods.delete({ namespace: "default", name: "agent" }, { gracePeriodSeconds: 0 });
    await cluster.admin.resource(nodeType).delete({ name: "fourth" });
  });

  it("takes off its own cordon, and leaves that of a person", async () => {
    const { client } = await open({ kind: "node", name: "first" });
    assert.equal(await uncordon(client, "first", first, options), "done");
    const node1 = await client.resource<NodeObject>(nodeType).get({ name: "first" });
    assert.equal(node1.spec?.unschedulable, undefined);
    assert.equal(node1.metadata?.annotations?.[CORDON_MARK], undefined);

    await cluster.admin.resource(nodeType).patch({ name: "first" }, { type: "merge", value: { spec: { unschedulable: true } } });
    assert.equal(await cordon(client, "first", first, "demo/first", options), "done");
    assert.equal(await uncordon(client, "first", first, options), "not-ours");
    assert.equal((await client.resource<NodeObject>(nodeType).get({ name: "first" })).spec?.unschedulable, true);
  });

  it("never writes to a Node of another machine", async () => {
    const { client } = await open({ kind: "node", name: "second" });
    assert.equal(await cordon(client, "second", first, "demo/first", options), "other-machine");
    assert.equal((await client.resource<NodeObject>(nodeType).get({ name: "second" })).spec?.unschedulable, undefined);
  });

  it("has as the user of one Node no right to another, nor to anything else", async () => {
    const { client } = await open({ kind: "node", name: "first" });
    assert.equal(await codeOf(cordon(client, "second", second, "demo/first", options)), "FORBIDDEN");
    const other = await cluster.admin.resource<PodObject>(podType).get({ namespace: "default", name: "other" });
    assert.equal(await codeOf(evict(client, other, options)), "FORBIDDEN");
    assert.equal(await codeOf(client.resource(nodeType).delete({ name: "first" })), "FORBIDDEN");
    assert.equal(await codeOf(client.resource(secretType).list({ namespace: "kube-system" })), "FORBIDDEN");
  });

  it("lists Nodes and deletes one that is not ready, as the node controller, and has no right to Secrets", async () => {
    const { client } = await open({ kind: "nodes" });
    const nodes = (await client.resource<NodeObject>(nodeType).list()).items.map((one) => seenNode(one));
    assert.deepEqual(
      nodes.map(({ name, uuid, isReady }) => ({ name, uuid, isReady })),
      [
        { name: "first", uuid: first.uuid, isReady: true },
        { name: "second", uuid: second.uuid, isReady: true },
      ],
    );
    assert.equal(await deleteNodeObject(client, "second", () => true, options), false, "its kubelet lives");
    await cluster.admin
      .resource<NodeObject>(nodeType)
      .patchStatus({ name: "second" }, { type: "merge", value: { status: { conditions: [{ type: "Ready", status: "Unknown" }] } } });
    assert.equal(await deleteNodeObject(client, "second", () => false, options), false, "another machine's");
    assert.equal(await deleteNodeObject(client, "second", () => true, options), true);
    assert.equal(await cluster.admin.resource(nodeType).tryGet({ name: "second" }), undefined);
    assert.equal(await codeOf(client.resource(secretType).list({ namespace: "kube-system" })), "FORBIDDEN");
  });

  it("reads what would hold up drains: budgets as the disruption controller, Nodes and pods as the node controller", async () => {
    const nodes = await open({ kind: "nodes" });
    const budgets = await open({ kind: "budgets" });
    const found = await readDrainObjects(nodes.client, budgets.client, options);
    assert.ok(found.nodes.some(({ metadata }) => metadata?.name === "first"));
    assert.ok(found.pods?.some(({ metadata }) => metadata?.name === "other"));
    assert.equal(await codeOf(nodes.client.resource(budgetType).list()), "FORBIDDEN", "which is why another user asks");
    assert.equal(await codeOf(budgets.client.resource(secretType).list({ namespace: "kube-system" })), "FORBIDDEN");
  });

  it("taints Nodes as the node controller, beside a person's taints, and no kubelet may", async () => {
    const nodes = cluster.admin.resource<NodeObject>(nodeType);
    await node("third", third);
    const theirs = { key: "team", value: "blue", effect: "PreferNoSchedule" };
    await nodes.patch({ name: "third" }, { type: "merge", value: { spec: { taints: [theirs] } } });
    const kubelet = await open({ kind: "node", name: "third" });
    const taints = [{ key: UPGRADE_TAINT, effect: "PreferNoSchedule" }];
    assert.equal(
      await codeOf(kubelet.client.resource(nodeType).patch({ name: "third" }, { type: "merge", value: { spec: { taints } } })),
      "FORBIDDEN",
    );
    const { client } = await open({ kind: "nodes" });
    const limits = async () => options;
    const keys = async (): Promise<readonly unknown[] | undefined> =>
      (await nodes.get({ name: "third" })).spec?.taints?.map(({ key }) => key).filter((key) => !key.startsWith("node.kubernetes.io/"));
    await putUpgradeTaint(client, [{ node: "third", ...third }], limits);
    assert.deepEqual(await keys(), ["team", UPGRADE_TAINT]);
    await takeUpgradeTaintOff(client, ["third"], limits);
    assert.deepEqual(await keys(), ["team"]);
  });
});
