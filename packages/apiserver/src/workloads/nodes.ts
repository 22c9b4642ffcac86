import { isReady, withCondition } from "../kinds/budget.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, objectsAt, stringAt } from "../request/json.ts";
import { isActive, templateHash, type ClusterView } from "./view.ts";

/** True when a Node takes this pod: selected, its taints tolerated and, but for daemons, not cordoned. One that is not Ready has a taint for it. */
export function takes(node: JsonObject, podSpec: JsonObject, isDaemon: boolean): boolean {
  const spec = objectAt(node, "spec");
  const labels = objectAt(metadataOf(node), "labels");
  if (metadataOf(node)["deletionTimestamp"] !== undefined) return false;
  if (spec["unschedulable"] === true && !isDaemon) return false;
  if (!Object.entries(objectAt(podSpec, "nodeSelector")).every(([key, value]) => labels[key] === value)) return false;
  const tolerations = objectsAt(podSpec, "tolerations");
  return objectsAt(spec, "taints").every(
    (taint) =>
      taint["effect"] === "PreferNoSchedule" ||
      (isDaemon && taint["key"] === "node.kubernetes.io/unschedulable") ||
      tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}

/** How many taints would rather keep this pod away; a Node with fewer of them comes first, however full it is. */
function dislikes(node: JsonObject, podSpec: JsonObject): number {
  const tolerations = objectsAt(podSpec, "tolerations");
  return objectsAt(objectAt(node, "spec"), "taints").filter(
    (taint) => taint["effect"] === "PreferNoSchedule" && !tolerations.some((toleration) => tolerates(toleration, taint)),
  ).length;
}

function tolerates(toleration: JsonObject, taint: JsonObject): boolean {
  const effect = stringAt(toleration, "effect") ?? "";
  if (effect !== "" && effect !== taint["effect"]) return false;
  const key = stringAt(toleration, "key") ?? "";
  if (key === "") return toleration["operator"] === "Exists";
  if (key !== taint["key"]) return false;
  return toleration["operator"] === "Exists" || (stringAt(toleration, "value") ?? "") === (stringAt(taint, "value") ?? "");
}

/**
 * Scheduler and kubelets: pods go to the Node with the fewest, of those that no taint would rather keep them off; they run and are ready at once, and those of
 * Jobs end at once. A genuine scheduler weighs such taints threefold, which all other reasons together seldom outweigh.
 *
 * @param hasKubelets somebody else lets pods run: here they only get their Node, and pods of Jobs end when they run
 */
export function runPods(view: ClusterView, hasKubelets: boolean): void {
  const nodes = view.list("/nodes");
  const pods = view.list("/pods");
  const load = new Map<unknown, number>(nodes.map((node) => [metadataOf(node)["name"], 0]));
  for (const pod of pods) {
    const on = objectAt(pod, "spec")["nodeName"];
    if (isActive(pod) && load.has(on)) load.set(on, (load.get(on) ?? 0) + 1);
  }
  for (const pod of pods) {
    const isRunning = stringAt(objectAt(pod, "status"), "phase") === "Running";
    if (!isActive(pod) || (isRunning && !(hasKubelets && isOfJob(pod)))) continue;
    const spec = objectAt(pod, "spec");
    const name = stringAt(spec, "nodeName") ?? "";
    if (hasKubelets && !isRunning && name !== "") continue;
    const fitting = nodes.filter((node) => (name === "" ? takes(node, spec, false) : metadataOf(node)["name"] === name));
    const [node] = fitting.toSorted((a, b) => dislikes(a, spec) - dislikes(b, spec) || loadOf(load, a) - loadOf(load, b));
    if (node === undefined) {
      if (name === "") view.update("/pods", pod, waiting(pod, nodes.length, view.now));
      continue;
    }
    if (!isRunning) load.set(metadataOf(node)["name"], loadOf(load, node) + 1);
    view.update("/pods", pod, hasKubelets && !isRunning ? bound(pod, node, view.now) : running(pod, node, view.now));
  }
}

function loadOf(load: ReadonlyMap<unknown, number>, node: JsonObject): number {
  return load.get(metadataOf(node)["name"]) ?? 0;
}

function waiting(pod: JsonObject, nodes: number, now: string): JsonObject {
  const status = objectAt(pod, "status");
  const message = `0/${nodes} nodes are available.`;
  const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message };
  return { ...pod, status: { ...status, phase: "Pending", conditions: withCondition(status, condition, now) } };
}

function isOfJob(pod: JsonObject): boolean {
  return objectsAt(metadataOf(pod), "ownerReferences").some(({ kind, controller }) => kind === "Job" && controller === true);
}

function bound(pod: JsonObject, node: JsonObject, now: string): JsonObject {
  const status = objectAt(pod, "status");
  const conditions = withCondition(status, { type: "PodScheduled", status: "True" }, now);
  return { ...pod, spec: { ...objectAt(pod, "spec"), nodeName: metadataOf(node)["name"] }, status: { ...status, conditions } };
}

function running(pod: JsonObject, node: JsonObject, now: string): JsonObject {
  const spec = objectAt(pod, "spec");
  const ends = isOfJob(pod);
  const conditions = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({
    type,
    status: ends && (type === "Ready" || type === "ContainersReady") ? "False" : "True",
    ...(ends && type !== "PodScheduled" ? { reason: "PodCompleted" } : {}),
    lastProbeTime: null,
    lastTransitionTime: now,
  }));
  const state = ends
    ? { terminated: { exitCode: 0, reason: "Completed", startedAt: now, finishedAt: now } }
    : { running: { startedAt: now } };
  const podIP = addressFor(pod);
  const hostIP = objectsAt(objectAt(node, "status"), "addresses").find(({ type }) => type === "InternalIP")?.["address"];
  return {
    ...pod,
    spec: { ...spec, nodeName: metadataOf(node)["name"] },
    status: {
      ...objectAt(pod, "status"),
      phase: ends ? "Succeeded" : "Running",
      conditions,
      ...(hostIP === undefined ? {} : { hostIP, hostIPs: [{ ip: hostIP }] }),
      podIP,
      podIPs: [{ ip: podIP }],
      startTime: now,
      containerStatuses: objectsAt(spec, "containers").map(({ name, image }) => ({
        name,
        image,
        imageID: "",
        restartCount: 0,
        lastState: {},
        state,
        ready: !ends,
        started: !ends,
      })),
    },
  };
}

/** An address that is always the same for a pod; two pods may share one, since nothing is sent there. */
function addressFor(pod: JsonObject): string {
  const number = Number.parseInt(templateHash(metadataOf(pod)["uid"]).slice(0, 4), 16);
  return `10.244.${number >> 8}.${number & 255}`;
}

/** Deletes pods whose Node is gone, as the pod garbage collector does. */
export function removeStranded(view: ClusterView): void {
  const names = new Set(view.list("/nodes").map((node) => metadataOf(node)["name"]));
  for (const pod of view.list("/pods")) {
    const name = stringAt(objectAt(pod, "spec"), "nodeName") ?? "";
    if (name !== "" && !names.has(name) && metadataOf(pod)["deletionTimestamp"] === undefined) view.remove("", "pods", pod);
  }
}

/** How many pods serve. */
export function readyCount(pods: readonly JsonObject[]): number {
  return pods.filter((pod) => isActive(pod) && isReady(pod)).length;
}
