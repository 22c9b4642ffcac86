import type { JsonObject } from "../json.ts";
import { isReady, withCondition } from "../kinds/budget.ts";
import { metadataOf, objectAt, stringAt } from "../request/json.ts";
import { readyCount, takes } from "./nodes.ts";
import { countAt, isActive, podOf, templateHash, type ClusterView, type Maker } from "./view.ts";

const apps = "apps/v1";
const label = "controller-revision-hash";

function templateOf(object: JsonObject): JsonObject {
  return objectAt(objectAt(object, "spec"), "template");
}

function nameOf(object: JsonObject): string {
  return String(metadataOf(object)["name"]);
}

/** As many pods as a ReplicaSet wants; those that are not ready go first. */
export function settleReplicaSet(view: ClusterView, set: JsonObject): void {
  const wanted = metadataOf(set)["deletionTimestamp"] === undefined ? countAt(objectAt(set, "spec"), "replicas", 1) : 0;
  const pods = view.ownedBy("/pods", set).filter(isActive);
  for (let missing = wanted - pods.length; missing > 0; missing--) {
    view.create("/pods", { kind: "ReplicaSet", apiVersion: apps, object: set }, `${nameOf(set)}-`, podOf(templateOf(set), {}));
  }
  const spare = pods.toSorted((a, b) => Number(isReady(a)) - Number(isReady(b))).slice(0, Math.max(0, pods.length - wanted));
  for (const pod of spare) view.remove("", "pods", pod);
  const now = view.ownedBy("/pods", set).filter(isActive);
  const ready = readyCount(now);
  view.update("apps/replicasets", set, {
    ...set,
    status: {
      replicas: now.length,
      ...(now.length === 0 ? {} : { fullyLabeledReplicas: now.length }),
      ...(ready === 0 ? {} : { readyReplicas: ready, availableReplicas: ready }),
      observedGeneration: metadataOf(set)["generation"],
    },
  });
}

/** Pods with numbers: made in order, each when the one before is ready, taken away from the end, replaced when the template changes. */
export function settleStatefulSet(view: ClusterView, set: JsonObject): void {
  if (metadataOf(set)["deletionTimestamp"] !== undefined) return;
  const spec = objectAt(set, "spec");
  const wanted = countAt(spec, "replicas", 1);
  const hash = `${nameOf(set)}-${templateHash(spec["template"])}`;
  const first = countAt(objectAt(spec, "ordinals"), "start", 0);
  const pods = new Map(view.ownedBy("/pods", set).map((pod) => [nameOf(pod), pod]));
  const maker: Maker = { kind: "StatefulSet", apiVersion: apps, object: set };
  const inOrder = spec["podManagementPolicy"] !== "Parallel";
  const strategy = objectAt(spec, "updateStrategy");
  const partition = countAt(objectAt(strategy, "rollingUpdate"), "partition", 0);
  for (let index = first; index < first + wanted; index++) {
    const name = `${nameOf(set)}-${index}`;
    const pod = pods.get(name);
    pods.delete(name);
    if (pod === undefined) {
      const labels = { [label]: hash, "apps.kubernetes.io/pod-index": String(index), "statefulset.kubernetes.io/pod-name": name };
      view.create("/pods", maker, name, podOf(templateOf(set), labels, { hostname: name, subdomain: spec["serviceName"] ?? "" }));
      if (inOrder) break;
    } else if (inOrder && !isReady(pod)) break;
    else if (strategy["type"] !== "OnDelete" && index - first >= partition && objectAt(metadataOf(pod), "labels")[label] !== hash) {
      view.remove("", "pods", pod);
      if (inOrder) break;
    }
  }
  const isBeyond = (name: string): boolean => Number(name.slice(nameOf(set).length + 1)) >= first + wanted;
  for (const [name, pod] of pods) if (isBeyond(name)) view.remove("", "pods", pod);
  const now = view.ownedBy("/pods", set).filter(isActive);
  const updated = now.filter((pod) => objectAt(metadataOf(pod), "labels")[label] === hash).length;
  const ready = readyCount(now);
  const before = stringAt(objectAt(set, "status"), "currentRevision") ?? hash;
  const isDone = updated === wanted && ready === wanted;
  view.update("apps/statefulsets", set, {
    ...set,
    status: {
      observedGeneration: metadataOf(set)["generation"],
      replicas: now.length,
      ...(ready === 0 ? {} : { readyReplicas: ready }),
      ...(isDone || before === hash ? { currentReplicas: updated } : { currentReplicas: now.length - updated }),
      updatedReplicas: updated,
      currentRevision: isDone ? hash : before,
      updateRevision: hash,
      collisionCount: 0,
      availableReplicas: ready,
    },
  });
}

/** One pod on each Node that takes it. */
export function settleDaemonSet(view: ClusterView, set: JsonObject): void {
  if (metadataOf(set)["deletionTimestamp"] !== undefined) return;
  const spec = objectAt(set, "spec");
  const template = templateOf(set);
  const hash = templateHash(template);
  const nodes = view.list("/nodes").filter((node) => takes(node, objectAt(template, "spec"), true));
  const pods = view.ownedBy("/pods", set).filter(isActive);
  const isRolling = objectAt(spec, "updateStrategy")["type"] !== "OnDelete";
  const on = (node: JsonObject): JsonObject | undefined =>
    pods.find((pod) => objectAt(pod, "spec")["nodeName"] === metadataOf(node)["name"]);
  for (const node of nodes) {
    const pod = on(node);
    if (pod === undefined) {
      const place = { nodeName: metadataOf(node)["name"] };
      const maker: Maker = { kind: "DaemonSet", apiVersion: apps, object: set };
      view.create("/pods", maker, `${nameOf(set)}-`, podOf(template, { [label]: hash }, place));
    } else if (isRolling && objectAt(metadataOf(pod), "labels")[label] !== hash) view.remove("", "pods", pod);
  }
  const isWanted = (pod: JsonObject): boolean => nodes.some((node) => objectAt(pod, "spec")["nodeName"] === metadataOf(node)["name"]);
  const all = view.ownedBy("/pods", set).filter(isActive);
  // One on a Node that takes none any more stays, and counts for nothing.
  const now = all.filter(isWanted);
  const ready = readyCount(now);
  view.update("apps/daemonsets", set, {
    ...set,
    status: {
      currentNumberScheduled: now.length,
      numberMisscheduled: all.length - now.length,
      desiredNumberScheduled: nodes.length,
      numberReady: ready,
      observedGeneration: metadataOf(set)["generation"],
      updatedNumberScheduled: now.filter((pod) => objectAt(metadataOf(pod), "labels")[label] === hash).length,
      ...(ready === 0 ? {} : { numberAvailable: ready }),
      ...(nodes.length === ready ? {} : { numberUnavailable: nodes.length - ready }),
    },
  });
}

/** As many pods at once as a Job allows, until enough of them have succeeded. */
export function settleJob(view: ClusterView, job: JsonObject): void {
  const spec = objectAt(job, "spec");
  const before = objectAt(job, "status");
  if (metadataOf(job)["deletionTimestamp"] !== undefined || spec["suspend"] === true || before["completionTime"] !== undefined) return;
  const pods = view.ownedBy("/pods", job);
  const succeeded = pods.filter((pod) => stringAt(objectAt(pod, "status"), "phase") === "Succeeded").length;
  const active = pods.filter(isActive).length;
  const completions = countAt(spec, "completions", 1);
  const missing = Math.min(countAt(spec, "parallelism", 1), completions - succeeded) - active;
  const labels = {
    "batch.kubernetes.io/controller-uid": metadataOf(job)["uid"],
    "batch.kubernetes.io/job-name": nameOf(job),
    "job-name": nameOf(job),
  };
  for (let count = 0; count < missing; count++) {
    view.create("/pods", { kind: "Job", apiVersion: "batch/v1", object: job }, `${nameOf(job)}-`, podOf(templateOf(job), labels));
  }
  const startTime = before["startTime"] ?? view.now;
  if (succeeded < completions) {
    const running = active + Math.max(0, missing);
    view.update("batch/jobs", job, {
      ...job,
      status: { ...before, startTime, active: running, ...(succeeded > 0 ? { succeeded } : {}), terminating: 0 },
    });
    return;
  }
  const reached = (type: string) => ({
    type,
    status: "True",
    reason: "CompletionsReached",
    message: "Reached expected number of succeeded pods",
  });
  const conditions = withCondition(
    { conditions: withCondition(before, reached("SuccessCriteriaMet"), view.now) },
    reached("Complete"),
    view.now,
  );
  view.update("batch/jobs", job, {
    ...job,
    status: { startTime, completionTime: view.now, succeeded, ready: 0, terminating: 0, uncountedTerminatedPods: {}, conditions },
  });
}
