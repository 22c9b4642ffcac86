import { apiVersionOf, controllerOf, finalizers, findCondition, talosMachineResource, talosWorkerResource } from "@talos-operator/api";
import type { HostOptions, ReconcileMode, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import {
  addFinalizer,
  createController,
  deleteExactly,
  hasFinalizer,
  isAlreadyExists,
  isControlledBy,
  keyText,
  removeFinalizer,
  watchOf,
} from "@talos-operator/kube-runtime";
import type { Controller, Delta, ObjectKey } from "@talos-operator/kube-runtime";
import { commonOptions } from "../shared/controller-ports.ts";
import type { ControllerPorts, TalosCaches } from "../shared/controller-ports.ts";
import type { LatestWords } from "../shared/latest.ts";
import { judgedStatus, pausedStatus } from "../shared/kstatus.ts";
import { effectiveMode, isTakenOver, pausedCondition } from "../shared/mode.ts";
import type { ClustersByKey } from "../shared/mode.ts";
import { specOrMetadataChanged } from "../shared/predicates.ts";
import { tellingRefusals, withRefusal } from "../shared/refused-write.ts";
import { createStatusWriter } from "../shared/status-writer.ts";
import type { Telling } from "../../telling/telling.ts";
import type { ConfigReferences } from "../../references/config-references.ts";
import type { References } from "../../references/references.ts";
import { machinesOf } from "../taloscontrolplane/spec/declared.ts";
import { followEndpoint } from "../taloscontrolplane/effects/follow-endpoint.ts";
import { addressKnowledge, referencesOf } from "../taloscontrolplane/spec/known-addresses.ts";
import { talosMachineFor } from "../taloscontrolplane/execute.ts";
import { inertFieldsOf } from "../taloscontrolplane/spec/inert-fields.ts";
import { isNameTaken, sharedNameProblems, sharedNames, withTakenName } from "../taloscontrolplane/spec/machine-names.ts";
import { addressesOf } from "../taloscontrolplane/spec/places.ts";
import { workerProblems } from "../taloscontrolplane/spec/spec-problems.ts";
import type { Brain } from "../taloscontrolplane/brain.ts";
import { dryRunCondition } from "../taloscontrolplane/planning/dry-run-condition.ts";
import type { PoolState } from "../taloscontrolplane/conditions/pool-state.ts";
import { decideWorker } from "./decide.ts";
import { heldMachines } from "./held-machines.ts";
import { heldStatus, waitingForImport } from "./waiting-status.ts";
import type { Look } from "../../model/look.ts";
import type { Plan } from "../../model/decision.ts";

const STATUS_EVERY_MS = 2_000;

/** A cache that does not know a pause yet is looked at again so soon. Milliseconds. */
const CACHE_BEHIND_MS = 1_000;

/** A pool that waits for machines which have no TalosMachine any more asks the record so often. Milliseconds. */
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
  readonly brain: Pick<Brain, "machine">;
}

/** Makes the TalosMachines of worker pools and sums up how they are; the brain of the cluster does the rest. */
export function createWorkerController(options: WorkerControllerOptions): Controller {
  const { client, workers, controlPlanes, machines } = options;
  const statuses = createStatusWriter<TalosWorker>(
    client,
    talosWorkerResource,
    options.clock,
    "talos-operator/talosworker",
    options.events,
  );
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
    const mode = asked === "import" && isTakenOver(controlPlane) ? "reconcile" : asked;
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
    const shared = sharedNames([...(controlPlane === undefined ? [] : [controlPlane]), worker, ...siblings]);
    const problems = [...workerProblems(worker, controlPlane, others, options.hosts, config), ...sharedNameProblems(worker, shared)];
    const asker = { id: `worker ${keyText(key)}`, wake: () => controller.enqueue(key) };
    const book = await options.references.follow(asker, referencesOf(worker), key.namespace ?? "");
    const declared = machinesOf(worker, addressKnowledge({ controlPlane }, book, undefined, options.hosts)).map((machine) =>
      withTakenName(machine, nameHolder({ namespace: key.namespace, name: machine.name }, name)),
    );
    const own = machines.store.byIndex("worker", keyText(key)).toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    const isEnding = worker.metadata.deletionTimestamp !== undefined && hasFinalizer(worker, finalizers.talosWorker) && own.length === 0;
    const listed = declared.map((machine) => machine.name);
    const look = (machine: string): Look | undefined => options.brain.machine({ namespace: key.namespace, name: machine })?.look;
    const held = isEnding ? await heldMachines(worker, listed, client, look) : [];
    const decision = decideWorker(
      {
        worker,
        controlPlane,
        problems,
        inertFields: inertFieldsOf(worker),
        declared,
        machines: own,
        held,
        state: options.stateOf({ namespace: key.namespace, name }, key.name),
      },
      finalizers.talosWorker,
    );
    const { create, follow, release: free, addFinalizer: guards, removeFinalizer: ends } = decision;
    if ((guards || ends || create.length + follow.length + free.length > 0) && !(await isStillWanted(worker, asked)))
      return { requeueAfterMs: CACHE_BEHIND_MS };
    let current = worker;
    if (decision.addFinalizer) current = await addFinalizer(pools, worker, finalizers.talosWorker);
    const owner = { apiVersion: apiVersionOf(talosWorkerResource), kind: worker.kind, metadata: worker.metadata };
    const make = (): Promise<readonly (string | undefined)[]> =>
      Promise.all(
        decision.create.map(async (machine) => {
          try {
            return (await machineClient.create(talosMachineFor(machine, owner, worker.spec?.deletionPolicy, name))).metadata
              .resourceVersion;
          } catch (thrown) {
            if (isAlreadyExists(thrown)) return undefined;
            throw thrown;
          }
        }),
      );
    const made = await tellingRefusals(make, (refusal) => {
      const conditions = withRefusal(decision.conditions, refusal, worker.metadata.generation);
      return statuses.write(
        current,
        judgedStatus(worker, { state: "Pending", ...decision.running }, { ...decision, conditions }),
        STATUS_EVERY_MS,
      );
    });
    for (const version of made) if (version !== undefined) await machines.waitForResourceVersion(version, { timeoutMs: 5_000 });
    for (const { machine, to } of decision.follow) await followEndpoint(machineClient, machine, to);
    for (const machine of decision.release) await release({ namespace: key.namespace, name: machine });
    // The status first: with the finalizer gone there may be nothing left to write to.
    const wait = decision.removeFinalizer
      ? undefined
      : await statuses.write(current, judgedStatus(worker, { state: decision.state, ...decision.running }, decision), STATUS_EVERY_MS);
    if (decision.removeFinalizer) {
      // What no list told of would keep its finalizer, and nobody would be left to take it off.
      for (const machine of listed) await release({ namespace: key.namespace, name: machine }, worker);
      await removeFinalizer(pools, worker, finalizers.talosWorker);
    }
    // Neither the record wakes anybody, nor another cluster's machine that goes.
    const isHeldUp = (isEnding && !decision.removeFinalizer) || declared.some(isNameTaken);
    return { requeueAfterMs: isHeldUp ? HELD_AGAIN_MS : wait };
  };

  /** The TalosMachine of this name that refers to nothing of the pool's cluster. */
  const nameHolder = (machine: ObjectKey, cluster: string): TalosMachine | undefined => {
    const holder = machines.store.get(machine);
    const { controlPlaneRef, workerRef } = holder?.spec ?? {};
    const pool = workerRef?.name === undefined ? undefined : workers.store.get({ namespace: machine.namespace, name: workerRef.name });
    return (controlPlaneRef?.name ?? pool?.spec?.controlPlaneRef?.name) === cluster ? undefined : holder;
  };

  /** True when pool and control plane still say what this pass read in the cache: a watch may stand still for minutes, and a pause counts from the first moment. */
  const isStillWanted = async ({ metadata, spec }: TalosWorker, asked: ReconcileMode): Promise<boolean> => {
    const { namespace, name } = metadata;
    const { latest, talosClusters } = options;
    const owner = controllerOf(metadata);
    const controlPlaneName = spec?.controlPlaneRef?.name ?? "";
    const [live, cluster, controlPlane] = await Promise.all([
      pools.tryGet({ namespace, name }),
      owner?.kind === "TalosCluster" ? latest.talosCluster({ namespace, name: owner.name }) : undefined,
      controlPlaneName === "" ? undefined : latest.controlPlane({ namespace, name: controlPlaneName }),
    ]);
    if (controlPlane !== undefined && isHeld(controlPlane, { get: (key) => cluster ?? talosClusters.store.get(key) })) return false;
    // Machines of a pool that goes would be made as fast as they are taken down.
    if (metadata.deletionTimestamp === undefined && live?.metadata.deletionTimestamp !== undefined) return false;
    return (
      live === undefined || effectiveMode({ ...metadata, annotations: live.metadata.annotations ?? {} }, { get: () => cluster }) === asked
    );
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
