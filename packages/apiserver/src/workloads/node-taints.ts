import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, objectsAt } from "../request/json.ts";
import type { ClusterView } from "./view.ts";

/** By the status of the condition Ready. */
const taintOf = { True: undefined, False: "node.kubernetes.io/not-ready", Unknown: "node.kubernetes.io/unreachable" } as const;

const ours: ReadonlySet<unknown> = new Set(Object.values(taintOf).filter((key) => key !== undefined));

/**
 * As the node lifecycle controller does it: nothing new comes to a Node that is not Ready, or whose kubelet is silent, but what tolerates that. Without the effect
 * NoExecute, which would evict pods after five minutes: nobody evicts here.
 *
 * @see kubernetes/kubernetes `pkg/controller/nodelifecycle/node_lifecycle_controller.go` doNoScheduleTaintingPass
 */
export function settleNode(view: ClusterView, node: JsonObject): void {
  if (metadataOf(node)["deletionTimestamp"] !== undefined) return;
  view.update("/nodes", node, tainted(node));
}

/** True when {@link settleNode} would change this Node. */
export function isWronglyTainted(node: JsonObject): boolean {
  return metadataOf(node)["deletionTimestamp"] === undefined && tainted(node) !== node;
}

function tainted(node: JsonObject): JsonObject {
  const spec = objectAt(node, "spec");
  const taints = objectsAt(spec, "taints");
  const wanted = wantedTaint(node);
  const present = taints.filter(({ key, effect }) => ours.has(key) && effect === "NoSchedule");
  if (wanted === undefined ? present.length === 0 : present.length === 1 && present[0]?.["key"] === wanted) return node;
  const others = taints.filter((taint) => !present.includes(taint));
  const next = wanted === undefined ? others : [...others, { key: wanted, effect: "NoSchedule" }];
  const { taints: _, ...rest } = spec;
  return { ...node, spec: next.length === 0 ? rest : { ...rest, taints: next } };
}

/** A Node that says nothing yet is not Ready: its taint is put on at its admission. */
function wantedTaint(node: JsonObject): string | undefined {
  const status = objectsAt(objectAt(node, "status"), "conditions").find(({ type }) => type === "Ready")?.["status"];
  return taintOf[status === "True" || status === "Unknown" ? status : "False"];
}
