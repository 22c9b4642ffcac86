import {
  annotations,
  apiVersionOf,
  clusterRecordResource,
  conditionCatalogue,
  conditionFor,
  isConditionTrue,
  kubernetesClusterResource,
  reconcileModeOf,
  talosControlPlaneResource,
  talosWorkerResource,
  vitistackMachineResource,
} from "@talos-operator/api";
import type {
  ClusterDefaults,
  ClusterRecord,
  ConditionInput,
  KubernetesCluster,
  ReconcileMode,
  TalosControlPlane,
  TalosMachine,
  TalosWorker,
  VitistackMachine,
} from "@talos-operator/api";
import { addFinalizer, createController, deleteExactly, keyText, removeFinalizer, watchOf } from "@talos-operator/kube-runtime";
import type { Controller, EventRecorder, ObjectKey, ReconcileContext, ReconcileResult } from "@talos-operator/kube-runtime";
import { dump } from "js-yaml";
import { elapsedMs } from "../../elapsed.ts";
import type { Leading } from "../../leading.ts";
import type { Results } from "../../results/results.ts";
import { commonOptions } from "../shared/controller-ports.ts";
import type { ControllerPorts } from "../shared/controller-ports.ts";
import { specOrMetadataChanged } from "../shared/predicates.ts";
import { pausedCondition } from "../shared/mode.ts";
import { machineFact } from "../taloscontrolplane/record/facts.ts";
import { readRecord } from "../taloscontrolplane/record/facts-codec.ts";
import { wordFor } from "../taloscontrolplane/membership/identity.ts";
import { createMachineApplier, FIELD_MANAGER, wordsOf } from "./apply-machines.ts";
import { createPoolApplier } from "./apply-pools.ts";
import { decideComposition } from "./decide.ts";
import { CompositionError, compositionBackoff } from "./errors.ts";
import { clusterAnnotations, compositionFinalizers, machineLabels } from "./keys.ts";
import type { Decision, MachineManifest, Seen } from "./model.ts";
import { holdersBeside, isForUs, observeComposition, ownerKeys, twinsOf } from "./observe.ts";
import type { CompositionCaches } from "./observe.ts";

import { keepGivenSecrets } from "./keep-given.ts";
import { createPoolPauser } from "./pause-pools.ts";
import { createSharedEndpoints } from "./shared-endpoint.ts";
import { stageOfPhase, statusAfter } from "./status.ts";
import { isUndeclaredField } from "./undeclared.ts";

/** While a cluster is made its status is written at most this often; what people wait for is written at once. Milliseconds. */
const STATUS_EVERY_MS = 2_000;

/** The network is asked this often for the address of a cluster. Milliseconds. */
const ENDPOINT_AGAIN_MS = 5_000;

/** Machines that are applied at once. */
const APPLIES_AT_ONCE = 8;

/** What the controller of KubernetesClusters needs. */
export interface CompositionControllerOptions extends ControllerPorts, CompositionCaches {
  readonly events: EventRecorder;
  readonly leading: Leading;
  /** Without it no files are written, and the condition FilesGenerated says so. */
  readonly results?: Results;
  /** What clusters get that do not say otherwise. */
  readonly defaults: ClusterDefaults;
  /** Clusters that are composed at once. */
  readonly concurrency: number;
  /** A settled cluster is looked at this often. Milliseconds. */
  readonly intervalMs: number;
}

/** Makes Machines, and pools of them, from KubernetesClusters; the brain does the rest. */
export function createCompositionController(options: CompositionControllerOptions): Controller {
  const { client, clock, clusters, vitistackMachines, controlPlanes, workers, log } = options;
  const clusterClient = client.resource<KubernetesCluster>(kubernetesClusterResource);
  const machineClient = client.resource<VitistackMachine>(vitistackMachineResource);
  const applier = createMachineApplier(client);
  const pools = createPoolApplier(client);
  const pausePools = createPoolPauser(client);
  const endpoints = createSharedEndpoints(client);
  const written = new Map<string, number>();
  const warned = new Map<string, string>();

  const reconcile = async (key: ObjectKey, context: ReconcileContext): Promise<ReconcileResult | undefined> => {
    const cluster = clusters.store.get(key);
    if (cluster === undefined) {
      written.delete(keyText(key));
      warned.delete(keyText(key));
      endpoints.forget(keyText(key));
      return undefined;
    }
    if (!isForUs(cluster)) {
      context.log.debug({ provider: cluster.spec?.data?.provider }, "Left to its provider");
      return undefined;
    }
    context.note("observe");
    let seen = observeComposition(cluster, options, options.defaults, clock.now());
    const paused = pausedBy(cluster);
    await pausePools(seen, paused?.mode);
    if (paused !== undefined) return { requeueAfterMs: await pauseConditions(seen, paused.condition, context) };
    seen = await withEndpoint(seen);
    let decision = decideComposition(seen);
    if (decision.needsRecord) {
      seen = { ...seen, holding: await readHolding(seen) };
      decision = decideComposition(seen);
    }
    if (decision.addFinalizer) {
      context.wrote(clusters, await addFinalizer(clusterClient, cluster, compositionFinalizers.cluster));
      return { requeueAfterMs: 0 };
    }
    // Nothing refuses a file: a process that was stopped and goes on would write those of a cluster that is gone by now.
    if (options.leading.remainingMs() <= 0) return undefined;
    context.note("files");
    const files = await keepFiles(decision, seen);
    context.note("machines");
    const made = await makeMachines(decision, seen, context);
    const failures: unknown[] = made.failure === undefined ? [] : [made.failure];
    if (made.failure === undefined) {
      context.note("pools");
      try {
        if (decision.applyPools.length > 0) await keepGivenSecrets(client, seen);
        await shapePools(decision, seen, context);
        for (const machine of decision.release) await release(machine, context);
        for (const name of decision.abandon.slice(0, 1)) await abandon(name, seen, context);
        if (decision.removeFiles) await removeFiles(seen);
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
    const wait = await writeStatus(seen, { ...decision, conditions: [...decision.conditions, ...files, ...made.conditions] }, context);
    const [failure] = failures;
    if (failure instanceof CompositionError)
      options.events.record(cluster, {
        type: "Warning",
        reason: failure.kind,
        action: "Compose",
        note: failure.message,
      });
    if (failure !== undefined) throw failure;
    if (decision.stage === "invalid") options.figures?.failed("KubernetesCluster", "ValidationError");
    const usual = seen.waitsForEndpoint === undefined ? options.intervalMs : Math.min(options.intervalMs, ENDPOINT_AGAIN_MS);
    const look = decision.stage === "invalid" ? undefined : usual;
    return { requeueAfterMs: wait === undefined ? look : Math.min(wait, look ?? wait) };
  };

  /** The observation with the endpoint that the network gives, once a cluster is ours to make. */
  const withEndpoint = async (seen: Seen): Promise<Seen> => {
    const { cluster, model, controlPlane } = seen;
    if (model?.endpoint.mode !== "shared" || cluster.metadata.deletionTimestamp !== undefined || seen.olderTwin !== undefined) return seen;
    if (
      controlPlane === undefined &&
      (seen.isPausedAfterFiles || cluster.metadata.finalizers?.includes(compositionFinalizers.cluster) !== true)
    )
      return seen;
    const found = await endpoints.resolve(seen, model);
    if (found.kind === "waiting") return { ...seen, waitsForEndpoint: found.message };
    return { ...seen, model: { ...model, endpoint: found.endpoint } };
  };

  /** Names of TalosMachines that may hold a configuration, as the record says it now. */
  const readHolding = async ({ cluster, model }: Seen): Promise<ReadonlySet<string> | undefined> => {
    if (model === undefined) return undefined;
    const record = await client
      .resource<ClusterRecord>(clusterRecordResource)
      .tryGet({ namespace: cluster.metadata.namespace, name: model.name });
    if (record === undefined) return new Set();
    const facts = readRecord(record)?.facts;
    if (facts === undefined) return undefined;
    return new Set(
      facts.machines
        .filter(({ configuredAt, releasedAt }) => configuredAt !== undefined && releasedAt === undefined)
        .map(({ name }) => name),
    );
  };

  const keepFiles = async ({ files }: Decision, { cluster, model }: Seen): Promise<readonly ConditionInput[]> => {
    if (files === undefined || model === undefined) return [];
    const say = (reason: "GenerationSucceeded" | "GenerationFailed" | "NotConfigured", message: string): readonly ConditionInput[] => [
      conditionFor("FilesGenerated", reason, message, cluster.metadata.generation),
    ];
    if (options.results === undefined) return say("NotConfigured", "RESULTS_PATH is not set.");
    const { namespace = "", uid = "" } = cluster.metadata;
    try {
      const texts = new Map(
        files.map((manifest) => [`${manifest.metadata.name}.yaml`, dump(manifest, { lineWidth: -1, noRefs: true })] as const),
      );
      const place = await options.results.keep({ namespace, name: model.name, uid }, texts);
      return say(
        "GenerationSucceeded",
        [`${files.length} manifest(s) are in ${place.folder}.`, place.remark].filter((text) => text !== undefined).join(" "),
      );
    } catch (thrown) {
      options.figures?.failed("KubernetesCluster", "FileSystemError");
      return say(
        "GenerationFailed",
        `The files of this cluster could not be written: ${codeOf(thrown)}. The cluster goes on without them.`,
      );
    }
  };

  const removeFiles = async ({ cluster, model }: Seen): Promise<void> => {
    const { namespace = "", uid = "", name } = cluster.metadata;
    try {
      await options.results?.remove({ namespace, name: model?.name ?? name, uid });
    } catch (thrown) {
      // Files are for people: those that cannot be removed do not keep a cluster.
      log.warn({ namespace, name, err: thrown }, "The files of a cluster that is gone could not be removed");
    }
  };

  /** Said when it is found and again when it changed, not at each pass (A068). */
  const warnOnce = ({ metadata }: KubernetesCluster, words: string | undefined, context: ReconcileContext): void => {
    if (words === warned.get(keyText(metadata))) return;
    if (words === undefined) warned.delete(keyText(metadata));
    else {
      warned.set(keyText(metadata), words);
      context.log.warn({ reason: "NameConflict" }, words);
    }
  };

  const makeMachines = async (
    decision: Decision,
    { cluster, model, machines, isPausedAfterFiles }: Seen,
    context: ReconcileContext,
  ): Promise<{ readonly conditions: readonly ConditionInput[]; readonly failure?: CompositionError }> => {
    const generation = cluster.metadata.generation;
    if (decision.files === undefined) return { conditions: [] };
    if (isPausedAfterFiles)
      return {
        conditions: [
          conditionFor(
            "MachinesCreated",
            "WaitingForPerson",
            `The annotation ${clusterAnnotations.pauseAfterFiles} says so. Remove it to have the Machines made.`,
            generation,
          ),
        ],
      };
    const stored = new Map(machines.map((machine) => [machine.metadata.name, machine]));
    const one = async (manifest: MachineManifest): Promise<CompositionError | undefined> => {
      try {
        const there = stored.get(manifest.metadata.name);
        const result = await applier.apply(manifest, there);
        if (result !== undefined && there === undefined)
          options.figures?.machineGenerated(model?.name ?? cluster.metadata.name, manifest.metadata.labels?.[machineLabels.role] ?? "");
        if (result !== undefined) context.wrote(vitistackMachines, result);
        return undefined;
      } catch (thrown) {
        return thrown instanceof CompositionError
          ? thrown
          : new CompositionError("MachineCreationError", wordsOf(thrown), { cause: thrown });
      }
    };
    const errors: CompositionError[] = [];
    for (let index = 0; index < decision.apply.length; index += APPLIES_AT_ONCE) {
      const results = await Promise.all(decision.apply.slice(index, index + APPLIES_AT_ONCE).map(one));
      errors.push(...results.filter((error) => error !== undefined));
    }
    const [failure] = errors;
    const conflict = decision.conditions.find(({ reason }) => reason === "NameConflict");
    warnOnce(cluster, conflict?.message, context);
    const words = failure?.message ?? conflict?.message;
    if (words !== undefined)
      return {
        conditions: [conditionFor("MachinesCreated", "CreationFailed", `${words}.`.replace("..", "."), generation)],
        ...(failure === undefined ? {} : { failure }),
      };
    const remark = applier.dropsTalosConfig() ? " The CRD of Machine that is installed drops spec.talosConfig." : "";
    return {
      conditions: [
        conditionFor("MachinesCreated", "CreationSucceeded", `${decision.files.length} Machine(s) are there.${remark}`, generation),
      ],
    };
  };

  const shapePools = async (decision: Decision, seen: Seen, context: ReconcileContext): Promise<void> => {
    for (const wanted of decision.applyPools) {
      const stored =
        wanted.kind === "TalosControlPlane"
          ? seen.controlPlane
          : seen.workers.find(({ metadata }) => metadata.name === wanted.metadata.name);
      const result = await pools.apply(wanted, stored);
      if (result !== undefined) context.wrote(wanted.kind === "TalosControlPlane" ? controlPlanes : workers, result);
    }
    for (const { kind, name } of decision.deletePools) {
      const stored = kind === "TalosControlPlane" ? seen.controlPlane : seen.workers.find(({ metadata }) => metadata.name === name);
      if (stored !== undefined)
        await deleteExactly(client.resource(kind === "TalosControlPlane" ? talosControlPlaneResource : talosWorkerResource), stored);
    }
  };

  /** Deletes a Machine that the cluster has let go of, and stops holding it: its provider finishes with it. */
  const release = async (machine: VitistackMachine, context: ReconcileContext): Promise<void> => {
    const { namespace, name, deletionTimestamp } = machine.metadata;
    if (deletionTimestamp === undefined) await deleteExactly(machineClient, machine);
    const current = await machineClient.tryGet({ namespace, name });
    if (current?.metadata.uid !== machine.metadata.uid || current === undefined) return;
    context.wrote(vitistackMachines, await removeFinalizer(machineClient, current, compositionFinalizers.machineInUse));
  };

  /** Somebody else's CRD declares the published fields alone. Found out by the first write; another CRD later needs another start. */
  let hasPublishedStatus = false;

  /** What a person would say of a machine that is no more; it acts once, on the machine it names. */
  const abandon = async (name: string, { controlPlane }: Seen, context: ReconcileContext): Promise<void> => {
    if (controlPlane === undefined || controlPlane.metadata.annotations?.[annotations.abandonMachine] !== undefined) return;
    const { namespace, name: cluster, uid, resourceVersion } = controlPlane.metadata;
    const record = await client.resource<ClusterRecord>(clusterRecordResource).tryGet({ namespace, name: cluster });
    const facts = record === undefined ? undefined : readRecord(record)?.facts;
    if (facts === undefined || machineFact(facts, name)?.releasedAt !== undefined) return;
    const word = wordFor(facts, name, undefined);
    const value = { metadata: { uid, resourceVersion, annotations: { [annotations.abandonMachine]: word } } };
    context.log.info({ machine: name, action: "Abandon" }, "Its provider destroyed it: it is let go without a wipe");
    const key = { namespace, name: cluster };
    context.wrote(
      controlPlanes,
      await client
        .resource<TalosControlPlane>(talosControlPlaneResource)
        .patch(key, { type: "merge", value }, { fieldManager: FIELD_MANAGER }),
    );
  };

  const writeStatus = async (
    seen: Seen,
    wanted: Pick<Decision, "stage" | "message" | "conditions">,
    context: ReconcileContext,
  ): Promise<number | undefined> => {
    const { cluster, now } = seen;
    const before = cluster.status;
    const after = statusAfter(before, seen, wanted, hasPublishedStatus);
    if (after === before) return undefined;
    const key = keyText(cluster.metadata);
    const isReady = (status: typeof before): boolean =>
      isConditionTrue(status?.conditions as Parameters<typeof isConditionTrue>[0], "Ready");
    const isNews =
      before?.phase !== after.phase || isReady(before) !== isReady(after) || before.observedGeneration !== after.observedGeneration;
    const left = isNews ? 0 : STATUS_EVERY_MS - elapsedMs(written.get(key) ?? 0, now);
    if (left > 0) return left;
    const { namespace, name } = cluster.metadata;
    const applied = {
      apiVersion: apiVersionOf(kubernetesClusterResource),
      kind: cluster.kind,
      metadata: { namespace, name },
      status: after,
    };
    try {
      context.wrote(clusters, await clusterClient.applyStatus(applied, { fieldManager: FIELD_MANAGER, force: true }));
    } catch (thrown) {
      if (hasPublishedStatus || !isUndeclaredField(thrown)) throw thrown;
      hasPublishedStatus = true;
      return writeStatus(seen, wanted, context);
    }
    written.set(key, now);
    return undefined;
  };

  /** A paused cluster hears one word more; what was said of it stays. */
  const pauseConditions = async (seen: Seen, paused: ConditionInput, context: ReconcileContext): Promise<number | undefined> => {
    const { status } = seen.cluster;
    const told = (status?.conditions ?? []) as readonly ConditionInput[];
    if (told.some(({ type, reason, message }) => type === "Paused" && reason === paused.reason && message === paused.message))
      return undefined;
    const conditions = [...told.filter(({ type }) => type !== "Paused" && type in conditionCatalogue), paused];
    return writeStatus(seen, { stage: stageOfPhase(status?.phase), message: paused.message, conditions }, context);
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
      watchOf({ informer: controlPlanes, why: "the control plane tells how far it is", map: ownerKeys }),
      watchOf({ informer: workers, why: "a pool tells how far it is", map: ownerKeys }),
      watchOf({
        informer: options.machines,
        why: "a machine is ready, or was let go",
        map: (machine) => poolKeys(machine, options).flatMap(ownerKeys),
      }),
    ],
  });
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

/** Why nothing is to be done with a cluster, and the word for its pools; `undefined` = it goes on. */
function pausedBy({
  metadata,
}: KubernetesCluster): { readonly mode: Exclude<ReconcileMode, "reconcile">; readonly condition: ConditionInput } | undefined {
  const mode = reconcileModeOf(metadata);
  // A takeover is its pools' to carry out: they read first, and touch nothing until it is settled.
  if (mode !== "reconcile" && mode !== "import") return { mode, condition: pausedCondition(mode) };
  if ((metadata.annotations?.[clusterAnnotations.doNotReconcile] ?? "") === "") return undefined;
  const message = `The annotation ${clusterAnnotations.doNotReconcile} is set: nothing is changed until it is removed.`;
  return { mode: "disable", condition: conditionFor("Paused", "ReconcileModeDisable", message) };
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : wordsOf(thrown);
}
