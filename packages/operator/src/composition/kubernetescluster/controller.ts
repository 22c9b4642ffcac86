import { kubernetesClusterResource, talosControlPlaneResource, talosWorkerResource } from "@talos-operator/api";
import type { ClusterDefaults, ConditionInput, KubernetesCluster, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { addFinalizer, createController, keyText, removeFinalizer, watchOf } from "@talos-operator/kube-runtime";
import type { Controller, ObjectKey, ReconcileContext, ReconcileResult } from "@talos-operator/kube-runtime";
import type { Leading } from "../../leading.ts";
import type { Neighbours } from "../../neighbours/neighbours.ts";
import type { Results } from "../../results/results.ts";
import { commonOptions } from "../../controllers/shared/controller-ports.ts";
import { deleteOwned } from "../../controllers/shared/delete-owned.ts";
import type { ControllerPorts } from "../../controllers/shared/controller-ports.ts";
import type { Latest } from "../../controllers/shared/latest.ts";
import { isEdited, judgedConditions, startingConditions } from "../../controllers/shared/kstatus.ts";
import type { Told } from "../../controllers/shared/kstatus.ts";
import { specOrMetadataChanged } from "../../controllers/shared/predicates.ts";
import { withAdded } from "../../controllers/shared/written-fields.ts";
import { withRefusal } from "../../controllers/shared/refused-write.ts";
import type { Brain } from "../../reconcilers/brain.ts";
import { askByName } from "./ask-by-name.ts";
import { createPoolApplier } from "./apply-pools.ts";
import { decideComposition } from "./decide.ts";
import { writtenFields } from "./describe.ts";
import { CompositionError, compositionBackoff } from "./errors.ts";
import { compositionFinalizers } from "./keys.ts";
import type { Decision, Seen } from "./model.ts";
import { holdersBeside, isForUs, observeComposition, ownerKeys, twinsOf } from "./observe.ts";
import type { CompositionCaches } from "./observe.ts";
import { keepGivenSecrets } from "./keep-given.ts";
import { createFileKeeper } from "./keep-files.ts";
import { abandon, release } from "./let-go.ts";
import { createMachineMaker } from "./make-machines.ts";
import { createPoolPauser } from "./pause-pools.ts";
import { pausedBy } from "./paused-by.ts";
import { liveCluster } from "./live-cluster.ts";
import type { OwnerQuestion } from "./live-cluster.ts";
import { readHolding } from "./read-holding.ts";
import { withHeldEndpoint } from "./held-endpoint.ts";
import { createSharedEndpoints } from "./shared-endpoint.ts";
import { isTakeoverOpen, takeoverOf } from "./takeover.ts";
import type { Telling } from "../../telling/telling.ts";
import { tellTurns } from "../../controllers/shared/turns.ts";
import { createClusterStatusWriter } from "./write-status.ts";

/** The network is asked this often for the address of a cluster. Milliseconds. */
const ENDPOINT_AGAIN_MS = 5_000;

/** What the controller of KubernetesClusters needs. */
export interface CompositionControllerOptions extends ControllerPorts, CompositionCaches {
  readonly events: Telling;
  readonly leading: Leading;
  /** Asked before anything of a cluster is written that another operator made. */
  readonly neighbours: Neighbours;
  /** Without it no files are written, and the condition FilesGenerated says so. */
  readonly results?: Results;
  /** The clusters as they are now. */
  readonly latestCluster: Latest<KubernetesCluster>;
  /** Looks at the machines. */
  readonly brain: Pick<Brain, "machine">;
  /** What clusters get that do not say otherwise. */
  readonly defaults: ClusterDefaults;
  /** Clusters that are composed at once. */
  readonly concurrency: number;
  /** A settled cluster is looked at this often. Milliseconds. */
  readonly intervalMs: number;
}

/** A cache that does not know a pause yet is looked at again so soon. Milliseconds. */
const CACHE_BEHIND_MS = 1_000;

/** Without time left on the lease it is looked again so soon. Milliseconds. */
const LEASE_AGAIN_MS = 1_000;

/** Makes Machines, and pools of them, from KubernetesClusters; the brain does the rest. */
export function createCompositionController(options: CompositionControllerOptions): Controller {
  const { client, clock, clusters, vitistackMachines, controlPlanes, workers } = options;
  const clusterClient = client.resource<KubernetesCluster>(kubernetesClusterResource);
  const files = createFileKeeper(options.results, options);
  const maker = createMachineMaker(options);
  const pools = createPoolApplier(client);
  const pausePools = createPoolPauser(client);
  const endpoints = createSharedEndpoints(client);
  const statuses = createClusterStatusWriter(client, clusters, tellTurns(options.events, kubernetesClusterResource));

  const reconcile = async (key: ObjectKey, context: ReconcileContext): Promise<ReconcileResult | undefined> => {
    const cluster = clusters.store.get(key);
    if (cluster === undefined) {
      statuses.forget(keyText(key));
      maker.forget(keyText(key));
      endpoints.forget(keyText(key));
      return undefined;
    }
    if (!isForUs(cluster)) {
      context.log.debug({ provider: cluster.spec?.data?.provider }, "Left to its provider");
      return undefined;
    }
    context.note("observe");
    let seen = observeComposition(cluster, options, options.defaults, clock.now());
    const live = liveCluster(cluster, options.latestCluster, options.leading);
    const paused = pausedBy(cluster);
    await pausePools(seen, paused?.mode, live.isPaused);
    if (paused !== undefined) return { requeueAfterMs: await statuses.writePaused(seen, paused.condition, context) };
    const beside = isLeftToOthers(seen) ? await options.neighbours.findBeside(key) : undefined;
    seen = beside === undefined ? await withEndpoint(seen, live.isOwnerThere) : { ...seen, beside };
    let decision = decideComposition(seen);
    if (decision.needsRecord) {
      const holding = await readHolding(seen, client);
      seen = { ...seen, holding, silent: silentOf(holding, key) };
      decision = decideComposition(seen);
    }
    if (decision.needsAsking) {
      seen = await askByName(seen, client);
      decision = decideComposition(seen);
    }
    if (takesAway(decision) && (await live.isPaused())) return { requeueAfterMs: CACHE_BEHIND_MS };
    if (decision.addFinalizer) {
      if (!(await live.isOwnerThere())) return { requeueAfterMs: CACHE_BEHIND_MS };
      context.wrote(clusters, await addFinalizer(clusterClient, cluster, compositionFinalizers.cluster));
      return { requeueAfterMs: 0 };
    }
    // Nothing refuses a file: a process that was stopped and goes on would write those of a cluster that is gone by now.
    // One whose clock was set forward finds its lease over until it renews it, and goes on.
    if (options.leading.remainingMs() <= 0) return { requeueAfterMs: LEASE_AGAIN_MS };
    // Before the edit reaches Machines and pools: who reads the status takes the cluster for finished.
    if (isEdited(cluster as Told) && decision.apply.length + decision.applyPools.length > 0)
      await statuses.write(
        seen,
        { ...decision, conditions: withKstatus(seen, decision, startingConditions(decision.conditions, cluster.metadata.generation)) },
        context,
      );
    context.note("files");
    const told = await files.keep(decision, seen);
    context.note("machines");
    const made = await maker.make(decision, seen, live.isOwnerThere, context);
    const failures: unknown[] = made.failure === undefined ? [] : [made.failure];
    if (made.failure === undefined) {
      context.note("pools");
      try {
        if (decision.applyPools.length > 0) await keepGivenSecrets(client, seen, live.isOwnerThere);
        await shapePools(decision, seen, live.isOwnerThere, context);
        for (const machine of decision.release) await release(machine, cluster.metadata.uid ?? "", options, context);
        for (const name of decision.abandon.slice(0, 1)) await abandon(name, seen, options, context);
        if (decision.removeFiles) await files.remove(seen);
      } catch (thrown) {
        failures.push(thrown);
      }
    }
    if (decision.removeFinalizer && failures.length === 0) {
      const going = await removeFinalizer(clusterClient, cluster, compositionFinalizers.clusterOfOthers);
      if (going !== undefined) context.wrote(clusters, await removeFinalizer(clusterClient, going, compositionFinalizers.cluster));
      return undefined;
    }
    context.note("status");
    const [failure] = failures;
    const conditions = withRefusal([...decision.conditions, ...told, ...made.conditions], failure, cluster.metadata.generation);
    const wait = await statuses.write(seen, { ...decision, conditions: withKstatus(seen, decision, conditions) }, context);
    if (failure instanceof CompositionError) options.events.tell(cluster, failure.kind, "Compose", failure.message);
    if (failure !== undefined) throw failure;
    if (decision.stage === "invalid") options.figures?.failed("KubernetesCluster", "ValidationError");
    const usual = seen.waitsForEndpoint === undefined ? options.intervalMs : Math.min(options.intervalMs, ENDPOINT_AGAIN_MS);
    const look = decision.stage === "invalid" ? undefined : usual;
    return { requeueAfterMs: wait === undefined ? look : Math.min(wait, look ?? wait) };
  };

  /** The observation with the endpoint that the network gives, once a cluster is ours to make. */
  const withEndpoint = async (seen: Seen, isOwnerThere: OwnerQuestion): Promise<Seen> => {
    const { model, controlPlane } = seen;
    const { deletionTimestamp, finalizers } = seen.cluster.metadata;
    if (model?.endpoint.mode !== "shared" || deletionTimestamp !== undefined || seen.olderTwin !== undefined) return withHeldEndpoint(seen);
    if (controlPlane === undefined && (seen.isPausedAfterFiles || finalizers?.includes(compositionFinalizers.cluster) !== true))
      return seen;
    const found = await endpoints.resolve(seen, model, isOwnerThere);
    if (found.kind === "waiting") return { ...seen, waitsForEndpoint: found.message };
    return { ...seen, model: { ...model, endpoint: found.endpoint } };
  };

  const silentOf = (holding: ReadonlySet<string> | undefined, { namespace }: ObjectKey): ReadonlySet<string> =>
    new Set([...(holding ?? [])].filter((name) => options.brain.machine({ namespace, name })?.look.kind === "silent"));

  const shapePools = async (decision: Decision, seen: Seen, isOwnerThere: OwnerQuestion, context: ReconcileContext): Promise<void> => {
    for (const wanted of decision.applyPools) {
      const stored =
        wanted.kind === "TalosControlPlane"
          ? seen.controlPlane
          : seen.workers.find(({ metadata }) => metadata.name === wanted.metadata.name);
      const result = await pools.apply(wanted, stored, isOwnerThere);
      if (result !== undefined) context.wrote(wanted.kind === "TalosControlPlane" ? controlPlanes : workers, result);
    }
    for (const { kind, name } of decision.deletePools) {
      const stored = kind === "TalosControlPlane" ? seen.controlPlane : seen.workers.find(({ metadata }) => metadata.name === name);
      const resource = client.resource(kind === "TalosControlPlane" ? talosControlPlaneResource : talosWorkerResource);
      if (stored !== undefined) await deleteOwned(resource, stored, seen.cluster.metadata.uid ?? "");
    }
  };

  return createController({
    name: "KubernetesCluster",
    ...commonOptions(options),
    logFields: ({ name }) => ({ cluster: name }),
    workers: options.concurrency,
    backoff: compositionBackoff,
    reconcile,
    watches: [
      watchOf({
        informer: clusters,
        why: "the cluster is the work item, and one with the same id or address may have gone",
        predicate: specOrMetadataChanged,
        map: (cluster) =>
          [cluster, ...twinsOf(cluster, clusters.store), ...holdersBeside(cluster, clusters.store)].map(({ metadata }) => metadata),
      }),
      watchOf({ informer: vitistackMachines, why: "a Machine was fulfilled, changed or taken away", map: ownerKeys }),
      watchOf({ informer: controlPlanes, why: "the control plane reports how far it is", map: ownerKeys }),
      watchOf({ informer: workers, why: "a pool reports how far it is", map: ownerKeys }),
      watchOf({
        informer: options.machines,
        why: "a machine is ready, or was released",
        map: (machine) => poolKeys(machine, options).flatMap(ownerKeys),
      }),
    ],
  });
}

/** With what tools read beside `Ready`. @param applyPools as the cluster writes them */
function withKstatus(
  seen: Seen,
  { applyPools }: Pick<Decision, "applyPools">,
  conditions: readonly ConditionInput[],
): readonly ConditionInput[] {
  const { cluster, controlPlane, workers } = seen;
  const fields = writtenFields(seen);
  const parts = [controlPlane, ...workers].flatMap((pool) => {
    if (pool === undefined) return [];
    const wanted = applyPools.find(({ kind, metadata }) => kind === pool.kind && metadata.name === pool.metadata.name)?.spec;
    return [{ ...pool, fields: withAdded(fields, pool.spec, wanted) }];
  });
  return judgedConditions({ conditions, hasOpenEffect: false, parts }, cluster.metadata.generation);
}

/** Another operator made it, and nothing of it was taken over yet. What goes before it was is left as it is anyway. */
function isLeftToOthers({ cluster, controlPlane }: Seen): boolean {
  if (cluster.metadata.deletionTimestamp !== undefined) return false;
  return isTakeoverOpen(takeoverOf(cluster, { clusterId: "" }), controlPlane);
}

/** Something ends by it. */
function takesAway({ deletePools, release, abandon, removeFiles, removeFinalizer }: Decision): boolean {
  return deletePools.length + release.length + abandon.length > 0 || removeFiles || removeFinalizer;
}

/** The pool of a TalosMachine. */
function poolKeys(
  { metadata, spec }: TalosMachine,
  { controlPlanes, workers }: CompositionCaches,
): readonly (TalosControlPlane | TalosWorker)[] {
  const { namespace } = metadata;
  const name = spec?.controlPlaneRef?.name;
  const pool =
    name === undefined ? workers.store.get({ namespace, name: spec?.workerRef?.name ?? "" }) : controlPlanes.store.get({ namespace, name });
  return pool === undefined ? [] : [pool];
}
