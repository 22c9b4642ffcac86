import { conditionFor, reconcileModeOf } from "@talos-operator/api";
import type { ConditionInput, KubernetesCluster, ReconcileMode } from "@talos-operator/api";
import { pausedCondition } from "../../controllers/shared/mode.ts";
import { clusterAnnotations } from "./keys.ts";

/** Why nothing is to be done with a cluster, and the word for its pools; `undefined` = it goes on. */
export function pausedBy({
  metadata,
}: KubernetesCluster): { readonly mode: Exclude<ReconcileMode, "reconcile">; readonly condition: ConditionInput } | undefined {
  const mode = reconcileModeOf(metadata);
  // A takeover is its pools' to carry out: they read first, and touch nothing until it is settled.
  if (mode !== "reconcile" && mode !== "import") return { mode, condition: pausedCondition(mode) };
  if ((metadata.annotations?.[clusterAnnotations.doNotReconcile] ?? "") === "") return undefined;
  const message = `The annotation ${clusterAnnotations.doNotReconcile} is set: nothing is changed until it is removed.`;
  return { mode: "disable", condition: conditionFor("Paused", "ReconcileModeDisable", message) };
}
