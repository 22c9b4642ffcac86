import { createHash } from "node:crypto";
import {
  finalizers,
  findCondition,
  reconcileModeOf,
  talosClusterResource,
  talosControlPlaneResource,
  talosWorkerResource,
} from "@talos-operator/api";
import type { ConditionInput, Finding, HostOptions, TalosCluster, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { addFinalizer, createController, keyText, removeFinalizer, toOwner, watchOf } from "@talos-operator/kube-runtime";
import type { Controller, ObjectKey } from "@talos-operator/kube-runtime";
import { applyPool } from "../../controllers/shared/apply-pool.ts";
import { commonOptions } from "../../controllers/shared/controller-ports.ts";
import { deleteOwned } from "../../controllers/shared/delete-owned.ts";
import type { ControllerPorts, TalosCaches } from "../../controllers/shared/controller-ports.ts";
import type { LatestWords } from "../../controllers/shared/latest.ts";
import { isEdited, judgedStatus, pausedStatus, startingConditions } from "../../controllers/shared/kstatus.ts";
import { effectiveMode, isTakenOver, pausedCondition } from "../../controllers/shared/mode.ts";
import { ownerStays } from "../../controllers/shared/owner-stays.ts";
import { tellingRefusals, withRefusal } from "../../controllers/shared/refused-write.ts";
import { sumOfPools } from "../../controllers/shared/running-fields.ts";
import { sumOfUpgrades } from "../../controllers/shared/sum-of-upgrades.ts";
import { createStatusWriter } from "../../controllers/shared/status-writer.ts";
import type { Telling } from "../../telling/telling.ts";
import { findingsAt } from "../../controllers/shared/written-fields.ts";
import type { WantedStatus } from "../../controllers/shared/status-writer.ts";
import { controlPlaneProblems, workerProblems } from "../../spec/spec-problems.ts";
import { childrenOf, decideCluster, poolsOf } from "./decide.ts";
import type { ClusterSeen } from "./decide.ts";
import { describeDryRun } from "./dry-run.ts";
import type { ForeseenCluster } from "./dry-run.ts";

const FIELD_MANAGER = "talos-operator/taloscluster";
const STATUS_EVERY_MS = 2_000;
/** The first words sum up those of control plane and pool. */
const WRITTEN = { firstWordsMs: 2_000 };
/** Clusters that are worked on at once: passes wait for the API most of their time, and what a person changed passes through here first. */
const WORKERS = 16;
/** A cache that does not know a pause yet is looked at again so soon. Milliseconds. */
const CACHE_BEHIND_MS = 1_000;

/** What the controller of clusters needs. */
export interface ClusterControllerOptions extends ControllerPorts, Omit<TalosCaches, "machines"> {
  readonly latest: Pick<LatestWords, "talosCluster">;
  readonly hosts: HostOptions;
  readonly events: Telling;
  /** What the brain would do with the children of a cluster that is only tried; `undefined` = it has not looked yet. */
  readonly planOf: (cluster: ObjectKey) => ForeseenCluster | undefined;
}

/** What is wrong with the parts of a spec, told at the fields of the TalosCluster. */
function problemsOf({ controlPlanes, workers, hosts }: ClusterControllerOptions, cluster: TalosCluster): readonly Finding[] {
  // What the machines of a child that is there have their configurations written for.
  const contractOf = ({ kind, metadata }: TalosControlPlane | TalosWorker): string | undefined =>
    (kind === "TalosControlPlane" ? controlPlanes : workers).store.get(metadata)?.status?.configContract;
  const { controlPlane, worker } = childrenOf(cluster);
  const referenced = cluster.spec?.controlPlaneRef?.name ?? "";
  const joined =
    controlPlane ?? (referenced === "" ? undefined : controlPlanes.store.get({ namespace: cluster.metadata.namespace, name: referenced }));
  return [
    ...(controlPlane === undefined
      ? []
      : findingsAt(controlPlaneProblems(controlPlane, [], hosts, undefined, contractOf(controlPlane)), "spec.controlPlane")),
    ...(worker === undefined ? [] : findingsAt(workerProblems(worker, joined, [], hosts, undefined, contractOf(worker)), "spec.worker")),
  ];
}

/** Makes the control plane and the worker pool of a TalosCluster, and sums up how they are. */
export function createClusterController(options: ClusterControllerOptions): Controller {
  const { client, talosClusters, controlPlanes, workers, clock, events } = options;
  const statuses = createStatusWriter<TalosCluster>(client, talosClusterResource, clock, FIELD_MANAGER, events, WRITTEN);
  const clusters = client.resource<TalosCluster>(talosClusterResource);
  // What was last applied to each child, and the generation that came of it: an equal wish for an untouched child costs no request.
  const applied = new Map<string, { readonly wish: string; readonly generation: number | undefined }>();

  /** True when the cluster still says what this pass read in the cache: a watch may stand still for minutes, and a pause counts from the first moment. */
  const isStillWanted = async ({ metadata }: TalosCluster): Promise<boolean> => {
    const live = await options.latest.talosCluster(metadata);
    return live === undefined || reconcileModeOf(live.metadata) === reconcileModeOf(metadata);
  };

  /** The same of one that stays the owner of what it makes. */
  const isStillThere = async ({ metadata }: TalosCluster): Promise<boolean> => {
    const live = (await options.latest.talosCluster(metadata))?.metadata;
    return ownerStays(metadata, live) && reconcileModeOf(live) === reconcileModeOf(metadata);
  };

  const applyChild = async (
    cluster: TalosCluster,
    child: TalosControlPlane | TalosWorker,
    existing: TalosControlPlane | TalosWorker | undefined,
  ): Promise<"done" | "behind"> => {
    const key = `${child.kind}/${keyText(child.metadata)}`;
    const wish = createHash("sha256")
      .update(JSON.stringify([child.metadata.ownerReferences, child.metadata.annotations, child.spec]))
      .digest("hex");
    const last = applied.get(key);
    if (existing !== undefined && last?.wish === wish && last.generation === existing.metadata.generation) return "done";
    if (!(await isStillThere(cluster))) return "done";
    const stored = await applyPool(client, child, existing, FIELD_MANAGER);
    if (stored === undefined) return "behind";
    applied.set(key, { wish, generation: stored.metadata.generation });
    const informer = child.kind === "TalosControlPlane" ? controlPlanes : workers;
    await informer.waitForResourceVersion(stored.metadata.resourceVersion ?? "", { timeoutMs: 5_000 });
    return "done";
  };

  const reconcile = async (key: ObjectKey): Promise<{ readonly requeueAfterMs?: number | undefined } | undefined> => {
    const cluster = talosClusters.store.get(key);
    if (cluster === undefined) {
      statuses.forget(keyText(key));
      for (const kind of ["TalosControlPlane", "TalosWorker"]) applied.delete(`${kind}/${keyText(key)}`);
      return undefined;
    }
    const asked = effectiveMode(cluster.metadata, talosClusters.store);
    const mode = asked === "import" && isTakenOver(controlPlanes.store.get(key)) ? "reconcile" : asked;
    const isImporting = asked === "import" && mode !== "reconcile";
    if (mode === "disable") {
      await statuses.write(cluster, pausedStatus(cluster, [pausedCondition(mode)]));
      return undefined;
    }
    const { spec } = cluster;
    const controlPlane = controlPlanes.store.get({
      namespace: key.namespace,
      name: spec?.controlPlane === undefined ? (spec?.controlPlaneRef?.name ?? key.name) : key.name,
    });
    const worker = workers.store.get({
      namespace: key.namespace,
      name: spec?.worker === undefined ? (spec?.workerRef?.name ?? key.name) : key.name,
    });
    const seen = { cluster, controlPlane, worker, problems: problemsOf(options, cluster) };
    const decision = decideCluster(seen, finalizers.talosCluster);
    if (mode === "dryrun") {
      const plan = describeDryRun(seen, options.planOf(key));
      const told = findCondition(cluster.status?.conditions, "DryRun")?.message;
      await statuses.write(cluster, pausedStatus(cluster, [pausedCondition(mode), plan]));
      if (plan.status !== "Unknown" && plan.message !== told) options.events.tell(cluster, "DryRun", "DryRun", plan.message);
      return undefined;
    }
    if (decision.addFinalizer) {
      const stored = await addFinalizer(clusters, cluster, finalizers.talosCluster);
      await talosClusters.waitForResourceVersion(stored.metadata.resourceVersion ?? "", { timeoutMs: 5_000 });
      return { requeueAfterMs: 0 };
    }
    const paused = isImporting ? [pausedCondition("import")] : [];
    // Before the edit reaches the children: whoever made it waits for an answer, and who reads the status takes the cluster for finished.
    if (isEdited(cluster) && decision.apply.length > 0)
      await statuses.write(cluster, statusOf(seen, [...startingConditions(decision.conditions, cluster.metadata.generation), ...paused]));
    // Children that another operator left stay as they are until the cluster is taken over.
    const isGoing = cluster.metadata.deletionTimestamp !== undefined;
    const compose = async (): Promise<"done" | "behind"> => {
      let result: "done" | "behind" = "done";
      for (const child of decision.apply) {
        const existing = child.kind === "TalosControlPlane" ? controlPlane : worker;
        if (isImporting && existing !== undefined) continue;
        if ((await applyChild(cluster, child, existing)) === "behind") result = "behind";
      }
      return result;
    };
    const composed = await tellingRefusals(compose, (refusal) => {
      const conditions = withRefusal(decision.conditions, refusal, cluster.metadata.generation);
      return statuses.write(cluster, statusOf(seen, conditions), STATUS_EVERY_MS);
    });
    if (composed === "behind") return { requeueAfterMs: CACHE_BEHIND_MS };
    for (const child of isImporting && !isGoing ? [] : decision.remove) {
      if (!(await isStillWanted(cluster))) return { requeueAfterMs: CACHE_BEHIND_MS };
      const existing = child.kind === "TalosControlPlane" ? controlPlane : worker;
      const resource = client.resource(child.kind === "TalosControlPlane" ? talosControlPlaneResource : talosWorkerResource);
      if (existing !== undefined && !(await deleteOwned(resource, existing, cluster.metadata.uid ?? "")))
        return { requeueAfterMs: CACHE_BEHIND_MS };
    }
    if (decision.removeFinalizer) {
      await removeFinalizer(clusters, cluster, finalizers.talosCluster);
      return undefined;
    }
    return {
      requeueAfterMs: await statuses.write(cluster, statusOf(seen, [...decision.conditions, ...paused]), STATUS_EVERY_MS),
    };
  };

  const ownersAndReferrers = (child: TalosControlPlane | TalosWorker): readonly ObjectKey[] => [
    ...toOwner("TalosCluster", talosClusterResource.group)(child),
    ...talosClusters.store
      .list(child.metadata.namespace)
      .filter(
        ({ spec }) => (child.kind === "TalosControlPlane" ? spec?.controlPlaneRef?.name : spec?.workerRef?.name) === child.metadata.name,
      )
      .map((cluster) => cluster.metadata),
  ];

  return createController({
    name: "taloscluster",
    ...commonOptions(options),
    logFields: ({ name }) => ({ cluster: name }),
    workers: WORKERS,
    backoff: { baseMs: 20, maxMs: 15_000 },
    reconcile,
    watches: [
      watchOf({ informer: talosClusters, why: "the cluster is the work item", predicate: (delta) => !statuses.isOwn(delta) }),
      watchOf({
        informer: controlPlanes,
        why: "the cluster sums up its control plane and brings back a spec that was changed",
        map: ownersAndReferrers,
        priority: "low",
      }),
      watchOf({
        informer: workers,
        why: "the cluster sums up its worker pool and brings back a spec that was changed",
        map: ownersAndReferrers,
        priority: "low",
      }),
    ],
  });
}

function statusOf(seen: ClusterSeen, conditions: readonly ConditionInput[]): WantedStatus {
  const parts = poolsOf(seen).flatMap(({ stored, fields }) => (stored === undefined ? [] : [{ ...stored, fields }]));
  return judgedStatus(seen.cluster, runningOf(seen), { conditions, hasOpenEffect: false, parts });
}

/** What runs of the cluster, for the columns of `kubectl get`. */
function runningOf(seen: ClusterSeen): WantedStatus["fields"] {
  return {
    ...sumOfPools(poolsOf(seen).map(({ stored }) => stored?.status)),
    observedKubeVersion: seen.controlPlane?.status?.observedKubeVersion,
    upgrade: sumOfUpgrades(poolsOf(seen).map(({ stored }) => stored)),
  };
}
