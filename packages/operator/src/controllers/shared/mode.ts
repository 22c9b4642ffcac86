import { annotations, conditionFor, controllerOf, isConditionTrue, reconcileModeOf, unknownReconcileMode } from "@talos-operator/api";
import type { ObjectMeta, ReconcileMode, TalosCluster, TalosControlPlane } from "@talos-operator/api";
import type { ObjectKey } from "@talos-operator/kube-runtime";
import type { WantedStatus } from "./status-writer.ts";

/** Where TalosClusters are found: a cache, or what was read just now. */
export interface ClustersByKey {
  get(key: ObjectKey): TalosCluster | undefined;
}

/** The mode of an object: its own annotation, else that of the TalosCluster that made it. */
export function effectiveMode(metadata: ObjectMeta, clusters: ClustersByKey): ReconcileMode {
  const own = reconcileModeOf(metadata);
  if (own !== "reconcile") return own;
  const cluster = clusterOf(metadata, clusters);
  return cluster === undefined ? "reconcile" : reconcileModeOf(cluster.metadata);
}

/** A word that is no mode, on the object or on the TalosCluster that made it. */
export function effectiveUnknownMode(metadata: ObjectMeta, clusters: ClustersByKey): string | undefined {
  return unknownReconcileMode(metadata) ?? unknownReconcileMode(clusterOf(metadata, clusters)?.metadata ?? {});
}

/** What a condition says about a word that is no mode. */
export function unknownModeField(metadata: ObjectMeta): readonly string[] {
  const word = unknownReconcileMode(metadata);
  return word === undefined
    ? []
    : [
        `the annotation ${annotations.reconcileMode}: ${JSON.stringify(word)} (known are reconcile, disable, dryrun and import; nothing is wiped until it is corrected)`,
      ];
}

/** True when a control plane that was to be imported was taken over: from then on the word import means nothing more. */
export function isTakenOver(controlPlane: TalosControlPlane | undefined): boolean {
  return isConditionTrue(controlPlane?.status?.conditions, "Imported");
}

/** The TalosCluster that made an object. */
export function clusterOf(metadata: ObjectMeta, clusters: ClustersByKey): TalosCluster | undefined {
  const owner = controllerOf(metadata);
  return owner?.kind === "TalosCluster" ? clusters.get({ namespace: metadata.namespace, name: owner.name }) : undefined;
}

const words = {
  disable: {
    reason: "ReconcileModeDisable",
    message: `The annotation ${annotations.reconcileMode} says disable: nothing is changed until it is removed.`,
  },
  dryrun: {
    reason: "ReconcileModeDryRun",
    message: `The annotation ${annotations.reconcileMode} says dryrun: nothing is written or sent until it is removed.`,
  },
  import: {
    reason: "ReconcileModeImport",
    message: `The annotation ${annotations.reconcileMode} says import: nothing is sent or made until the running cluster is taken over. The condition Imported of the TalosControlPlane says what is missing.`,
  },
} as const;

/** The one word that a paused object hears. It carries no generation, so that it is written once. */
export function pausedCondition(mode: Exclude<ReconcileMode, "reconcile">): WantedStatus["conditions"][number] {
  return conditionFor("Paused", words[mode].reason, words[mode].message);
}
