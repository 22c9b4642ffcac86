import type { JsonObject } from "../json.ts";
import { withCondition } from "../kinds/budget.ts";
import { metadataOf, objectAt, withMetadata } from "../request/json.ts";
import { countAt, templateHash, type ClusterView } from "./view.ts";

const revision = "deployment.kubernetes.io/revision";
const sets = "apps/replicasets";
const deployments = "apps/deployments";

/** One ReplicaSet for each pod template that a Deployment ever had: the newest grows, and as its pods become ready the others shrink. */
export function settleDeployment(view: ClusterView, deployment: JsonObject): void {
  if (metadataOf(deployment)["deletionTimestamp"] !== undefined) return;
  const spec = objectAt(deployment, "spec");
  const wanted = countAt(spec, "replicas", 1);
  const owned = view.ownedBy(sets, deployment);
  const hash = templateHash(spec["template"]);
  const current = owned.find((set) => objectAt(metadataOf(set), "labels")["pod-template-hash"] === hash);
  const others = owned.filter((set) => set !== current);
  const isPaused = spec["paused"] === true;
  if (current === undefined) {
    if (!isPaused) createSet(view, deployment, hash, owned);
    return;
  }
  const newest = Math.max(0, ...others.map(revisionOf));
  const number = revisionOf(current) > newest ? revisionOf(current) : newest + 1;
  const ready = countAt(objectAt(current, "status"), "readyReplicas", 0);
  const mayGrow =
    objectAt(spec, "strategy")["type"] !== "Recreate" || others.every((set) => countAt(objectAt(set, "status"), "replicas", 0) === 0);
  if (!isPaused) {
    view.update(sets, current, scaled(withRevision(current, number), mayGrow ? wanted : 0));
    let spare = mayGrow ? Math.max(0, wanted - ready) : 0;
    for (const set of others) {
      const keep = Math.min(countAt(objectAt(set, "spec"), "replicas", 0), spare);
      spare -= keep;
      view.update(sets, set, scaled(set, keep));
    }
    const limit = countAt(spec, "revisionHistoryLimit", 10);
    const idle = others.filter(
      (set) => countAt(objectAt(set, "status"), "replicas", 0) === 0 && countAt(objectAt(set, "spec"), "replicas", 0) === 0,
    );
    for (const set of idle.toSorted((a, b) => revisionOf(b) - revisionOf(a)).slice(limit)) view.remove("apps", "replicasets", set);
  }
  const next = withRevision(deployment, number);
  view.update(deployments, deployment, { ...next, status: statusOf(deployment, view.ownedBy(sets, deployment), hash, view.now) });
}

function createSet(view: ClusterView, deployment: JsonObject, hash: string, owned: readonly JsonObject[]): void {
  const spec = objectAt(deployment, "spec");
  const template = objectAt(spec, "template");
  const labels = { ...objectAt(metadataOf(template), "labels"), "pod-template-hash": hash };
  const selector = objectAt(spec, "selector");
  const number = String(Math.max(0, ...owned.map(revisionOf)) + 1);
  const { "kubectl.kubernetes.io/last-applied-configuration": _, ...annotations } = objectAt(metadataOf(deployment), "annotations");
  view.create(
    sets,
    { kind: "Deployment", apiVersion: "apps/v1", object: deployment },
    `${String(metadataOf(deployment)["name"])}-${hash}`,
    {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: { labels, annotations: { ...annotations, [revision]: number } },
      spec: {
        replicas: 0,
        selector: { ...selector, matchLabels: { ...objectAt(selector, "matchLabels"), "pod-template-hash": hash } },
        template: withMetadata(template, { labels }),
      },
      status: { replicas: 0 },
    },
  );
}

function revisionOf(object: JsonObject): number {
  return Number(objectAt(metadataOf(object), "annotations")[revision] ?? 0);
}

function withRevision(object: JsonObject, number: number): JsonObject {
  return withMetadata(object, { annotations: { ...objectAt(metadataOf(object), "annotations"), [revision]: String(number) } });
}

function scaled(set: JsonObject, replicas: number): JsonObject {
  const spec = objectAt(set, "spec");
  if (spec["replicas"] === replicas) return set;
  return { ...withMetadata(set, { generation: countAt(metadataOf(set), "generation", 1) + 1 }), spec: { ...spec, replicas } };
}

function statusOf(deployment: JsonObject, sets: readonly JsonObject[], hash: string, now: string): JsonObject {
  const sum = (field: string, among = sets): number => among.reduce((total, set) => total + countAt(objectAt(set, "status"), field, 0), 0);
  const updated = sets.filter((set) => objectAt(metadataOf(set), "labels")["pod-template-hash"] === hash);
  const wanted = countAt(objectAt(deployment, "spec"), "replicas", 1);
  const available = sum("availableReplicas");
  const name = updated.map((set) => String(metadataOf(set)["name"]))[0] ?? "";
  const isDone = sum("replicas", updated) === wanted && sum("replicas") === wanted && available === wanted;
  const before = objectAt(deployment, "status");
  const isAvailable = available >= wanted;
  const availability = isAvailable
    ? { type: "Available", status: "True", reason: "MinimumReplicasAvailable", message: "Deployment has minimum availability." }
    : {
        type: "Available",
        status: "False",
        reason: "MinimumReplicasUnavailable",
        message: "Deployment does not have minimum availability.",
      };
  const progress = isDone
    ? {
        type: "Progressing",
        status: "True",
        reason: "NewReplicaSetAvailable",
        message: `ReplicaSet "${name}" has successfully progressed.`,
      }
    : { type: "Progressing", status: "True", reason: "ReplicaSetUpdated", message: `ReplicaSet "${name}" is progressing.` };
  const conditions = withCondition({ conditions: withCondition(before, availability, now) }, progress, now);
  const counts: JsonObject = {
    replicas: sum("replicas"),
    updatedReplicas: sum("replicas", updated),
    readyReplicas: sum("readyReplicas"),
    availableReplicas: available,
    unavailableReplicas: Math.max(0, wanted - available),
  };
  const shown = Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
  return { observedGeneration: metadataOf(deployment)["generation"], ...shown, conditions };
}
