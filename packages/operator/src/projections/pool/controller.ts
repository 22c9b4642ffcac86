import { controllerOf, finalizers, findCondition, talosMachineResource, talosWorkerResource } from "@talos-operator/api";
import type { HostOptions, ReconcileMode, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { createController, deleteExactly, isControlledBy, keyText, removeFinalizer, watchOf } from "@talos-operator/kube-runtime";
import type { Controller, Delta, ObjectKey } from "@talos-operator/kube-runtime";
import { commonOptions } from "../../controllers/shared/controller-ports.ts";
import type { ControllerPorts, TalosCaches } from "../../controllers/shared/controller-ports.ts";
import type { LatestWords } from "../../controllers/shared/latest.ts";
import { judgedStatus, pausedStatus } from "../../controllers/shared/kstatus.ts";
import { effectiveMode, isTakenOver, pausedCondition } from "../../controllers/shared/mode.ts";
import type { ClustersByKey } from "../../controllers/shared/mode.ts";
import { specOrMetadataChanged } from "../../controllers/shared/predicates.ts";
import { withRefusalWords } from "../../controllers/shared/refused-write.ts";
import { createStatusWriter } from "../../controllers/shared/status-writer.ts";
import type { Telling } from "../../telling/telling.ts";
import type { ConfigReferences } from "../../references/config-references.ts";
import type { References } from "../../references/references.ts";
import { machinesOf } from "../../spec/declared.ts";
import { addressKnowledge, referencesOf } from "../../spec/known-addresses.ts";
import { inertFieldsOf } from "../../spec/inert-fields.ts";
import { isNameTaken, withTakenName } from "../../spec/machine-names.ts";
import { addressesOf } from "../../spec/places.ts";
import { workerProblems } from "../../spec/spec-problems.ts";
import { dryRunCondition } from "../../planning/dry-run-condition.ts";
import type { PoolComposition } from "../../procedures/compose/pool-composition.ts";
import type { PoolState } from "../../report/pool-state.ts";
import { decideWorker } from "./decide.ts";
import { problemsOfNames } from "./shared-names.ts";
import { heldStatus, waitingForImport } from "./waiting-status.ts";
import type { Plan } from "../../model/decision.ts";

const FIELD_MANAGER = "talos-operator/talosworker";
const STATUS_EVERY_MS = 2_000;

/** The first words sum up what its machines are told to be. */
const WRITTEN = { firstWordsMs: 1_750 };

/** A cache that does not know a pause yet is looked at again so soon. Milliseconds. */
const CACHE_BEHIND_MS = 1_000;

/** A pool one of whose names is taken looks again so often. Milliseconds. */
const HELD_AGAIN_MS = 5_000;

/** What the controller of worker pools needs. */
export interface WorkerControllerOptions extends ControllerPorts, TalosCaches {
  readonly events: Telling;
  readonly hosts: HostOptions;
  readonly references: References;
  readonly configs: ConfigReferences;
  readonly latest: LatestWords;
  /** What would be done with the machines of a pool that is only tried. */
  readonly planOf: (controlPlane: ObjectKey, worker: string) => Plan | undefined;
  /** What the reconciler of the cluster knows of a pool. */
  readonly stateOf: (controlPlane: ObjectKey, worker: string) => PoolState | undefined;
  /** How far it got with the TalosMachines of a pool. */
  readonly compositionOf: (controlPlane: ObjectKey, worker: string) => PoolComposition | undefined;
}

/**
 * Sums up how worker pools and their machines are; the brain of the cluster does the rest, from their finalizers on. Only a pool whose control plane is gone has nobody
 * but this to let it go.
 */
export function createWorkerController(options: WorkerControllerOptions): Controller {
  const { client, workers, controlPlanes, machines } = options;
  const statuses = createStatusWriter<TalosWorker>(client, talosWorkerResource, options.clock, FIELD_MANAGER, options.events, WRITTEN);
  const pools = client.resource<TalosWorker>(talosWorkerResource);
  const machineClient = client.resource<TalosMachine>(talosMachineResource);

  const reconcile = async (key: ObjectKey): Promise<{ readonly requeueAfterMs?: number | undefined } | undefined> => {
    const worker = workers.store.get(key);
    if (worker === undefined) {
      statuses.forget(keyText(key));
      options.references.forget(`worker ${keyText(key)}`);
      return undefined;
    }
    const name = worker.spec?.controlPlaneRef?.name ?? "";
    const controlPlane = name === "" ? undefined : controlPlanes.store.get({ namespace: key.namespace, name });
    const clusters = options.talosClusters.store;
    const asked = effectiveMode(worker.metadata, clusters);
    const mode = asked === "import" && (isLeft(worker, controlPlane) || isTakenOver(controlPlane)) ? "reconcile" : asked;
    if (mode !== "reconcile") {
      const plan = mode === "dryrun" ? options.planOf({ namespace: key.namespace, name }, key.name) : undefined;
      const told = findCondition(worker.status?.conditions, "DryRun")?.message;
      const planned = plan === undefined ? [] : [dryRunCondition(plan)];
      const status =
        mode === "import" ? waitingForImport(worker, name, controlPlane) : pausedStatus(worker, [pausedCondition(mode), ...planned]);
      await statuses.write(worker, status);
      for (const { message } of planned) if (message !== told) options.events.tell(worker, "DryRun", "DryRun", message);
      return undefined;
    }
    if (controlPlane !== undefined && isHeld(controlPlane, clusters)) {
      await statuses.write(worker, heldStatus(worker, controlPlane));
      return undefined;
    }
    const siblings =
      name === ""
        ? []
        : workers.store.byIndex("controlPlane", `${key.namespace ?? ""}/${name}`).filter((other) => other.metadata.name !== key.name);
    const config = await options.configs.resolve(worker.spec?.configRef, key.namespace ?? "");
    const others = siblings.flatMap((other) => addressesOf(other));
    const names = await problemsOfNames(worker, { controlPlane, siblings, configs: options.configs, machines: machines.store });
    const problems = [...workerProblems(worker, controlPlane, others, options.hosts, config), ...names];
    const asker = { id: `worker ${keyText(key)}`, wake: () => controller.enqueue(key) };
    const book = await options.references.follow(asker, referencesOf(worker), key.namespace ?? "");
    const declared = machinesOf(worker, addressKnowledge({ controlPlane }, book, undefined, options.hosts)).map((machine) =>
      withTakenName(machine, nameHolder({ namespace: key.namespace, name: machine.name }, name)),
    );
    const own = machines.store.byIndex("worker", keyText(key)).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    const cluster = { namespace: key.namespace, name };
    const composition = options.compositionOf(cluster, key.name);
    const state = options.stateOf(cluster, key.name);
    const inertFields = inertFieldsOf(worker);
    const decision = decideWorker(
      { worker, controlPlane, problems, inertFields, declared, machines: own, composition, state },
      finalizers.talosWorker,
    );
    if (decision.release.length > 0 || decision.removeFinalizer) {
      if (!(await isStillAlone(worker, asked))) return { requeueAfterMs: CACHE_BEHIND_MS };
      for (const machine of decision.release) await release({ namespace: key.namespace, name: machine });
    }
    if (decision.removeFinalizer) {
      // What no list told of would keep its finalizer, and nobody would be left to take it off.
      for (const { name: machine } of declared) await release({ namespace: key.namespace, name: machine }, worker);
      await removeFinalizer(pools, worker, finalizers.talosWorker);
      return undefined;
    }
    const conditions = withRefusalWords(decision.conditions, composition?.refusal, worker.metadata.generation);
    const fields = { state: decision.state, removals: decision.removals, upgrade: decision.upgrade, ...decision.running };
    const wait = await statuses.write(worker, judgedStatus(worker, fields, { ...decision, conditions }), STATUS_EVERY_MS);
    // That another cluster's machine goes wakes nobody.
    return { requeueAfterMs: declared.some(isNameTaken) ? HELD_AGAIN_MS : wait };
  };

  /** The TalosMachine of this name that refers to nothing of the pool's cluster. */
  const nameHolder = (machine: ObjectKey, cluster: string): TalosMachine | undefined => {
    const holder = machines.store.get(machine);
    const { controlPlaneRef, workerRef } = holder?.spec ?? {};
    const pool = workerRef?.name === undefined ? undefined : workers.store.get({ namespace: machine.namespace, name: workerRef.name });
    return (controlPlaneRef?.name ?? pool?.spec?.controlPlaneRef?.name) === cluster ? undefined : holder;
  };

  /**
   * True when there is still no control plane, and the pool still says what this pass read in the cache: a watch may stand still for minutes. Where a control plane
   * is there its own work item knows what the machines hold.
   */
  const isStillAlone = async ({ metadata, spec }: TalosWorker, asked: ReconcileMode): Promise<boolean> => {
    const { namespace, name } = metadata;
    const { latest } = options;
    const owner = controllerOf(metadata);
    const controlPlaneName = spec?.controlPlaneRef?.name ?? "";
    const [live, cluster, controlPlane] = await Promise.all([
      pools.tryGet({ namespace, name }),
      owner?.kind === "TalosCluster" ? latest.talosCluster({ namespace, name: owner.name }) : undefined,
      controlPlaneName === "" ? undefined : latest.controlPlane({ namespace, name: controlPlaneName }),
    ]);
    if (live === undefined || controlPlane !== undefined) return false;
    return effectiveMode({ ...metadata, annotations: live.metadata.annotations ?? {} }, { get: () => cluster }) === asked;
  };

  /** A pool goes on only with its control plane, and not before a running cluster was taken over. */
  const isHeld = (controlPlane: TalosControlPlane, clusters: ClustersByKey): boolean => {
    const mode = effectiveMode(controlPlane.metadata, clusters);
    if (mode !== "reconcile" && !(mode === "import" && isTakenOver(controlPlane))) return true;
    return findCondition(controlPlane.status?.conditions, "Imported")?.status === "False";
  };

  const release = async (key: ObjectKey, owner?: TalosWorker): Promise<void> => {
    const machine = await machineClient.tryGet(key);
    if (machine === undefined || (owner !== undefined && !isControlledBy(machine, owner))) return;
    await removeFinalizer(machineClient, machine, finalizers.talosMachine);
    await deleteExactly(machineClient, machine);
  };

  const controller: Controller = createController({
    name: "talosworker",
    ...commonOptions(options),
    backoff: { baseMs: 20, maxMs: 15_000 },
    reconcile,
    watches: [
      watchOf({ informer: workers, why: "the pool is the work item", predicate: (delta) => !statuses.isOwn(delta) }),
      watchOf({
        informer: machines,
        why: "the pool sums up its machines",
        map: (machine) =>
          machine.spec?.workerRef?.name === undefined ? [] : [{ namespace: machine.metadata.namespace, name: machine.spec.workerRef.name }],
      }),
      watchOf({
        informer: controlPlanes,
        why: "the pool waits for its control plane, and must not share its addresses",
        predicate: (delta) => specOrMetadataChanged(delta) || isTakeover(delta),
        map: (controlPlane) => workers.store.byIndex("controlPlane", keyText(controlPlane.metadata)).map((worker) => worker.metadata),
      }),
      watchOf({
        informer: options.talosClusters,
        why: "its annotation may pause the pool it made",
        predicate: specOrMetadataChanged,
        map: (cluster) =>
          workers.store
            .list(cluster.metadata.namespace)
            .filter((worker) => worker.metadata.ownerReferences?.some((owner) => owner.uid === cluster.metadata.uid))
            .map((worker) => worker.metadata),
      }),
    ],
  });
  return controller;
}

/** The control plane was taken over just now. */
function isTakeover(delta: Delta<TalosControlPlane>): boolean {
  const before = delta.type === "updated" ? findCondition(delta.previous.status?.conditions, "Imported")?.status : undefined;
  return findCondition(delta.object.status?.conditions, "Imported")?.status !== before;
}

/** Deleted without its control plane: nobody is left to take it over. */
function isLeft({ metadata }: TalosWorker, controlPlane: TalosControlPlane | undefined): boolean {
  return controlPlane === undefined && metadata.deletionTimestamp !== undefined;
}
