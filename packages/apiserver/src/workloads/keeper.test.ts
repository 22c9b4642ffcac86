import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { metaOf, namesOf } from "../conformance/world.ts";
import type { World } from "../conformance/world.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt } from "../request/json.ts";
import type { FakeTime } from "../testing/fake-time.ts";
import { startMemoryServer } from "../testing/memory-server.ts";

const apps = (plural: string, name = ""): string => `/apis/apps/v1/namespaces/default/${plural}${name === "" ? "" : `/${name}`}`;
const jobs = "/apis/batch/v1/namespaces/default/jobs";
const labels = { app: "x" };
const template = (image: string, spec: JsonObject = {}): JsonObject => ({
  metadata: { labels },
  spec: { containers: [{ name: "c", image }], ...spec },
});
const workload = (replicas: number | undefined, image = "i:1", more: JsonObject = {}): JsonObject => ({
  metadata: { name: "a" },
  spec: { ...(replicas === undefined ? {} : { replicas }), selector: { matchLabels: labels }, template: template(image), ...more },
});

interface Cluster {
  readonly world: World;
  readonly time: FakeTime;
  readonly status: (path: string) => Promise<JsonObject>;
  readonly pods: () => Promise<readonly JsonObject[]>;
  readonly revision: () => number;
}

async function start(
  nodes: readonly string[],
  workloads: "controllers" | "controllers and kubelets" = "controllers and kubelets",
): Promise<Cluster> {
  const { world, time, api } = await startMemoryServer({ workloads });
  const cluster: Cluster = {
    world,
    time,
    status: async (path) => {
      time.advance(0);
      return objectAt(await world.ok(world.get(path)), "status");
    },
    pods: async () => {
      time.advance(0);
      return objectsAt(await world.ok(world.get(world.core("pods"))), "items");
    },
    revision: () => api.revision(),
  };
  for (const name of nodes) await addNode(world, name);
  return cluster;
}

async function addNode(world: World, name: string, taints: readonly JsonObject[] = []): Promise<void> {
  await world.create("/api/v1/nodes", { metadata: { name, labels: { host: name } }, spec: { taints } });
  await world.ok(world.patch(`/api/v1/nodes/${name}/status`, "merge", { status: { conditions: [{ type: "Ready", status: "True" }] } }));
}

const nodesOf = (pods: readonly JsonObject[]): readonly unknown[] =>
  pods.map((pod) => String(objectAt(pod, "spec")["nodeName"])).toSorted();
const imagesOf = (pods: readonly JsonObject[]): readonly unknown[] => [
  ...new Set(pods.map((pod) => objectsAt(objectAt(pod, "spec"), "containers")[0]?.["image"])),
];

describe("the workloads of a simulated cluster", () => {
  it("gives a Deployment its ReplicaSet and pods, spread over the Nodes, and says that it is done", async () => {
    const { world, status, pods, time, revision } = await start(["n1", "n2"]);
    await world.create(apps("deployments"), workload(4));
    const { readyReplicas, updatedReplicas, availableReplicas, observedGeneration, conditions } = await status(apps("deployments", "a"));
    assert.deepEqual([readyReplicas, updatedReplicas, availableReplicas, observedGeneration], [4, 4, 4, 1]);
    assert.ok(objectsAt({ conditions }, "conditions").some(({ reason }) => reason === "NewReplicaSetAvailable"));
    assert.deepEqual(nodesOf(await pods()), ["n1", "n1", "n2", "n2"]);
    const before = revision();
    time.advance(600_000);
    assert.equal(revision(), before, "a settled cluster was written to");
  });

  it("rolls to a new template, keeps the old ReplicaSet for the way back, and goes back to it", async () => {
    const { world, pods, time } = await start(["n1"]);
    await world.create(apps("deployments"), workload(3));
    time.advance(0);
    await world.ok(world.patch(apps("deployments", "a"), "strategic-merge", { spec: { template: template("i:2") } }));
    assert.deepEqual(imagesOf(await pods()), ["i:2"]);
    const sets = objectsAt(await world.ok(world.get(apps("replicasets"))), "items");
    assert.deepEqual(sets.map((set) => String(objectAt(set, "spec")["replicas"])).toSorted(), ["0", "3"]);
    await world.ok(world.patch(apps("deployments", "a"), "strategic-merge", { spec: { template: template("i:1") } }));
    assert.deepEqual(imagesOf(await pods()), ["i:1"]);
    const revisions = objectsAt(await world.ok(world.get(apps("replicasets"))), "items").map((set) =>
      String(objectAt(metaOf(set), "annotations")["deployment.kubernetes.io/revision"]),
    );
    assert.deepEqual(revisions.toSorted(), ["2", "3"]);
  });

  it("waits with the old pods while no Node takes the new ones", async () => {
    const { world, pods, status, time } = await start(["n1"]);
    await world.create(apps("deployments"), workload(2));
    time.advance(0);
    await world.ok(
      world.patch(apps("deployments", "a"), "strategic-merge", { spec: { template: template("i:2", { nodeSelector: { host: "none" } }) } }),
    );
    const running = (await pods()).filter((pod) => objectAt(pod, "status")["phase"] === "Running");
    assert.deepEqual([running.length, ...imagesOf(running)], [2, "i:1"]);
    assert.equal((await status(apps("deployments", "a")))["availableReplicas"], 2);
    await addNode(world, "none");
    assert.deepEqual(imagesOf(await pods()), ["i:2"]);
  });

  it("scales to nothing, and deletes everything with the Deployment", async () => {
    const { world, pods, time } = await start(["n1"]);
    await world.create(apps("deployments"), workload(2));
    time.advance(0);
    await world.ok(world.patch(apps("deployments", "a/scale"), "merge", { spec: { replicas: 0 } }));
    assert.deepEqual(await pods(), []);
    await world.ok(world.patch(apps("deployments", "a/scale"), "merge", { spec: { replicas: 2 } }));
    assert.equal((await pods()).length, 2);
    await world.ok(world.send("DELETE", apps("deployments", "a")));
    assert.deepEqual(await pods(), []);
    assert.deepEqual(namesOf(await world.ok(world.get(apps("replicasets")))), []);
  });

  it("makes pods anew on another Node after an eviction from a cordoned one, and when a Node goes", async () => {
    const { world, pods } = await start(["n1", "n2"]);
    await world.create(apps("deployments"), workload(2));
    await pods();
    await world.ok(world.patch("/api/v1/nodes/n1", "merge", { spec: { unschedulable: true } }));
    const evicted = (await pods()).find((pod) => objectAt(pod, "spec")["nodeName"] === "n1");
    const name = String(metaOf(evicted)["name"]);
    await world.ok(
      world.send("POST", world.core("pods", `${name}/eviction`), { apiVersion: "policy/v1", kind: "Eviction", metadata: { name } }),
    );
    assert.deepEqual(nodesOf(await pods()), ["n2", "n2"]);
    await world.ok(world.patch("/api/v1/nodes/n1", "merge", { spec: { unschedulable: false } }));
    await world.ok(world.send("DELETE", "/api/v1/nodes/n2"));
    assert.deepEqual(nodesOf(await pods()), ["n1", "n1"]);
  });

  it("keeps off tainted Nodes what does not tolerate them", async () => {
    const { world, pods } = await start([]);
    await addNode(world, "cp", [{ key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" }]);
    await world.create(apps("deployments"), workload(1));
    const [pod] = await pods();
    assert.equal(objectAt(pod, "status")["phase"], "Pending");
    assert.equal(objectsAt(objectAt(pod, "status"), "conditions")[0]?.["reason"], "Unschedulable");
    const tolerations = [{ key: "node-role.kubernetes.io/control-plane", operator: "Exists" }];
    await world.ok(world.patch(apps("deployments", "a"), "strategic-merge", { spec: { template: template("i:1", { tolerations }) } }));
    assert.deepEqual(nodesOf(await pods()), ["cp"]);
  });

  it("puts pods rather on Nodes without a soft taint, and on those with one where there is no other", async () => {
    const { world, pods } = await start([]);
    const soft = { key: "soft", effect: "PreferNoSchedule" };
    await addNode(world, "n1", [soft]);
    await world.create(apps("deployments"), workload(2));
    assert.deepEqual(nodesOf(await pods()), ["n1", "n1"]);
    await addNode(world, "n2");
    await world.ok(world.patch(apps("deployments", "a"), "merge", { spec: { replicas: 4 } }));
    assert.deepEqual(nodesOf(await pods()), ["n1", "n1", "n2", "n2"]);
    await world.ok(world.patch(apps("deployments", "a"), "merge", { spec: { replicas: 5 } }));
    assert.deepEqual(nodesOf(await pods()), ["n1", "n1", "n2", "n2", "n2"], "however full it is");
    const tolerations = [{ key: "soft", operator: "Exists" }];
    await world.create(world.core("pods"), {
      metadata: { name: "tolerant" },
      spec: { containers: [{ name: "c", image: "i:1" }], tolerations },
    });
    assert.deepEqual(nodesOf(await pods()), ["n1", "n1", "n1", "n2", "n2", "n2"]);
  });

  it("lets a Node that is not Ready take only what tolerates that, and says so by a taint", async () => {
    const { world, pods, status, time, revision } = await start([], "controllers");
    await world.create("/api/v1/nodes", { metadata: { name: "n1" }, spec: { taints: [{ key: "own", effect: "NoExecute" }] } });
    const tell = (ready: string): Promise<unknown> =>
      world.ok(world.patch("/api/v1/nodes/n1/status", "merge", { status: { conditions: [{ type: "Ready", status: ready }] } }));
    const taints = async (): Promise<readonly unknown[]> => {
      time.advance(0);
      return objectsAt(objectAt(await world.ok(world.get("/api/v1/nodes/n1")), "spec"), "taints").map(({ key }) => key);
    };
    assert.deepEqual(await taints(), ["own", "node.kubernetes.io/not-ready"]);
    await tell("Unknown");
    assert.deepEqual(await taints(), ["own", "node.kubernetes.io/unreachable"]);
    await tell("True");
    assert.deepEqual(await taints(), ["own"]);
    await tell("False");
    const tolerant = { tolerations: [{ operator: "Exists" }] };
    await world.create(apps("daemonsets"), workload(undefined, "i:1", { template: template("i:1", tolerant) }));
    await world.create(
      apps("deployments"),
      workload(1, "i:1", { template: template("i:1", { tolerations: [{ key: "own", operator: "Exists" }] }) }),
    );
    assert.deepEqual(nodesOf(await pods()), ["n1", "undefined"]);
    const { desiredNumberScheduled, numberUnavailable } = await status(apps("daemonsets", "a"));
    assert.deepEqual([desiredNumberScheduled, numberUnavailable], [1, 1]);
    await tell("True");
    assert.deepEqual(nodesOf(await pods()), ["n1", "n1"]);
    const before = revision();
    time.advance(600_000);
    assert.equal(revision(), before, "a settled cluster was written to");
  });

  it("gives a StatefulSet its numbered pods, replaces them all, and takes them from the end", async () => {
    const { world, pods, status } = await start(["n1"]);
    await world.create(apps("statefulsets"), workload(3, "i:1", { serviceName: "s" }));
    const names = async (): Promise<readonly unknown[]> => (await pods()).map((pod) => metaOf(pod)["name"]);
    assert.deepEqual(await names(), ["a-0", "a-1", "a-2"]);
    await world.ok(world.patch(apps("statefulsets", "a"), "strategic-merge", { spec: { replicas: 2, template: template("i:2") } }));
    assert.deepEqual(await names(), ["a-0", "a-1"]);
    assert.deepEqual(imagesOf(await pods()), ["i:2"]);
    const { currentRevision, updateRevision, updatedReplicas, readyReplicas } = await status(apps("statefulsets", "a"));
    assert.equal(currentRevision, updateRevision);
    assert.deepEqual([updatedReplicas, readyReplicas], [2, 2]);
  });

  it("puts a DaemonSet on every Node, cordoned or new", async () => {
    const { world, pods, status } = await start(["n1", "n2"]);
    await world.ok(world.patch("/api/v1/nodes/n1", "merge", { spec: { unschedulable: true } }));
    await world.create(apps("daemonsets"), workload(undefined));
    assert.deepEqual(nodesOf(await pods()), ["n1", "n2"]);
    await addNode(world, "n3");
    assert.deepEqual(nodesOf(await pods()), ["n1", "n2", "n3"]);
    const { desiredNumberScheduled, numberReady, updatedNumberScheduled } = await status(apps("daemonsets", "a"));
    assert.deepEqual([desiredNumberScheduled, numberReady, updatedNumberScheduled], [3, 3, 3]);
  });

  it("completes a Job", async () => {
    const { world, pods, status } = await start(["n1"]);
    await world.create(jobs, {
      metadata: { name: "a" },
      spec: { completions: 3, parallelism: 2, template: { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } } },
    });
    const { succeeded, conditions, completionTime } = await status(`${jobs}/a`);
    assert.equal(succeeded, 3);
    assert.notEqual(completionTime, undefined);
    assert.deepEqual(
      objectsAt({ conditions }, "conditions").map(({ type }) => type),
      ["SuccessCriteriaMet", "Complete"],
    );
    assert.equal((await pods()).length, 3);
  });

  it("leaves it to other kubelets to let pods run", async () => {
    const { world, pods, status } = await start(["n1"], "controllers");
    await world.create(apps("deployments"), workload(1));
    const [pod] = await pods();
    assert.deepEqual([objectAt(pod, "spec")["nodeName"], objectAt(pod, "status")["phase"]], ["n1", "Pending"]);
    assert.equal((await status(apps("deployments", "a")))["availableReplicas"], undefined);
    // As a simulated kubelet holds it: nothing of the spec may look changed by that.
    await world.ok(
      world.patch(world.core("pods", String(metaOf(pod)["name"])), "merge", { metadata: { finalizers: ["example.org/held"] } }),
    );
    const path = world.core("pods", `${String(metaOf(pod)["name"])}/status`);
    await world.ok(world.patch(path, "merge", { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } }));
    assert.equal((await status(apps("deployments", "a")))["availableReplicas"], 1);
  });

  it("does nothing unless it is asked to", async () => {
    const { world, time } = await startMemoryServer();
    await addNode(world, "n1");
    await world.create(apps("deployments"), workload(1));
    time.advance(0);
    assert.deepEqual(namesOf(await world.ok(world.get(world.core("pods")))), []);
  });
});
