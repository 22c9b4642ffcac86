import { conditionFor, findCondition, findingsMessage, isConditionTrue } from "@talos-operator/api";
import type { ClusterModel, ConditionInput, ReadyReason, TalosControlPlane, TalosWorker, VitistackMachine } from "@talos-operator/api";
import { isBeingOrphaned } from "../../controllers/shared/delete-owned.ts";
import { etcdConditions, readyAsBefore, unreadyPool } from "../../controllers/shared/pools.ts";
import { describe, poolsOf, writtenFields } from "./describe.ts";
import { compositionFinalizers, machineAnnotations } from "./keys.ts";
import type { Decision, Seen } from "./model.ts";
import { sayReadVersions } from "./read-versions.ts";
import { stageOfPhase } from "./status.ts";
import { isStillOfOthers, isTakeoverOpen, takeoverOf } from "./takeover.ts";
import { compose } from "./plan.ts";
import type { Composition, LeavingMachine } from "./plan.ts";

const nothing: Omit<Decision, "stage" | "conditions" | "message"> = {
  addFinalizer: false,
  files: undefined,
  apply: [],
  applyPools: [],
  deletePools: [],
  release: [],
  abandon: [],
  removeFiles: false,
  removeFinalizer: false,
  needsRecord: false,
  needsAsking: false,
};

/** Composes a KubernetesCluster: Machines, pools of them, and in the end none of either. Pure. */
export function decideComposition(seen: Seen): Decision {
  if (seen.cluster.metadata.deletionTimestamp !== undefined) return takeDown(seen);
  const { model } = seen;
  if (model === undefined) return invalid(seen, seen.problems[0]?.reason ?? "SpecMissing", findingsMessage(seen.problems));
  if (seen.olderTwin !== undefined)
    return invalid(
      seen,
      "DuplicateCluster",
      `KubernetesCluster ${seen.olderTwin} of this namespace is older and has the same id, ${JSON.stringify(model.clusterId.slice(0, 64))}. Nothing is made for this one, and nothing of the other is touched. Delete one of the two, and make it anew with an id of its own.`,
    );
  const holder = holderOfEndpoint(seen, model);
  if (holder !== undefined) return invalid(seen, "DuplicateAddress", holder);
  const stolen = foreignPool(seen, model.name);
  if (stolen !== undefined) return invalid(seen, "NameConflict", stolen);
  const madeAs = seen.controlPlane?.metadata.name;
  if (madeAs !== undefined && madeAs !== model.name) return invalid(seen, "ClusterMismatch", renamed(seen, model.name, madeAs));
  const composition = compose(seen, model);
  const generation = seen.cluster.metadata.generation;
  const valid = conditionFor(
    "TopologyValid",
    "ValidationSucceeded",
    `Nothing is wrong with the spec.${sayReadVersions(seen.resolvedVersions)}`,
    generation,
  );
  const described = describe(seen, model, composition);
  const base = { ...nothing, stage: described.stage, message: described.message, conditions: [valid, ...described.conditions] };
  if (seen.beside !== undefined) return besideAnother(seen, seen.beside, base);
  if (!hasFinalizer(seen)) return { ...base, addFinalizer: true };
  if (seen.isPausedAfterFiles) return { ...base, files: composition.machines };
  // One more would be made for each Machine that is there and that nobody told of.
  if (composition.passedOver.length > 0 && seen.isAsked !== true) return { ...base, needsAsking: true };
  if (isTakeoverOpen(takeoverOf(seen.cluster, model), seen.controlPlane)) return takeOver(seen, composition, base);
  const wantedPools = new Set(composition.pools.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
  const candidates = composition.leaving.filter((leaver) => hasLeft(seen, leaver));
  return {
    ...base,
    files: composition.machines,
    apply: composition.machines,
    // The endpoint stands in every machine and cannot be put right later.
    applyPools: seen.waitsForEndpoint === undefined ? composition.pools : [],
    // A group that the spec no longer has goes as a whole.
    deletePools: seen.workers
      .filter((worker) => isOwn(seen, worker) && !wantedPools.has(`TalosWorker/${worker.metadata.name}`))
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => ({ kind: "TalosWorker", name: metadata.name })),
    abandon: composition.leaving.flatMap((leaver) => (isDestroyed(seen, leaver) ? [leaver.talosMachine] : [])),
    needsRecord: candidates.length > 0,
    release: candidates.filter(({ talosMachine }) => seen.holding?.has(talosMachine) === false).map(({ machine }) => machine),
  };
}

/** Two operators on one cluster undo each other's work: while the one that made it is at work, nothing of it is written but the status. */
function besideAnother(seen: Seen, other: string, base: Decision): Decision {
  const generation = seen.cluster.metadata.generation;
  const message = `Another operator is at work on this cluster: ${other}. Nothing is made or taken over until it is stopped: scale its Deployment to 0 and wait until ten minutes have passed since its last write.`;
  const conditions = [
    ...base.conditions.filter(({ type }) => type !== "Ready" && type !== "Progressing"),
    conditionFor("Ready", "AnotherOperatorActive", message, generation),
    conditionFor("Progressing", "Blocked", "See the condition Ready.", generation),
    conditionFor("AnotherOperatorActive", "Seen", message, generation),
  ];
  // How far it is says the other one.
  return { ...base, stage: stageOfPhase(seen.cluster.status?.phase), message, conditions };
}

/**
 * A cluster that runs already and is not ours yet: its pools are made, read and verify it, and no Machine is made, changed or released. What runs and what the
 * spec wants must be the same machines, as one that is not listed would be dropped without a drain.
 */
function takeOver(seen: Seen, { machines, leaving, pools }: Composition, base: Decision): Decision {
  const there = new Set(seen.machines.map(({ metadata }) => metadata.name));
  const absent = machines.map(({ metadata }) => metadata.name).filter((name) => !there.has(name));
  const unlisted = leaving.map(({ machine }) => machine.metadata.name);
  if (absent.length === 0 && unlisted.length === 0)
    return { ...base, files: machines, applyPools: seen.waitsForEndpoint === undefined ? pools : [] };
  const differs = [
    ...(absent.length === 0 ? [] : [`${absent.join(", ")} of the spec do not exist`]),
    ...(unlisted.length === 0 ? [] : [`${unlisted.join(", ")} exist and are not in the spec`]),
  ].join("; ");
  const message = `The cluster is to be taken over as it runs, and Machines differ: ${differs}. Write the groups and replicas that run, and change them afterwards. Nothing is made or sent.`;
  const generation = seen.cluster.metadata.generation;
  const rest = base.conditions.filter(({ type }) => type !== "Ready" && type !== "Progressing");
  const conditions = [
    ...rest,
    conditionFor("Ready", "ImportPending", message, generation),
    conditionFor("Progressing", "Blocked", "See the condition Ready.", generation),
  ];
  return { ...base, stage: "pending", message, conditions };
}

/**
 * The pool has seen that it lists the Machine no more, and nothing stands for it any longer. What the record says is asked for beside this, so that a
 * configuration on its way is not overlooked.
 */
function hasLeft(seen: Seen, { pool, machine, talosMachine }: LeavingMachine): boolean {
  if (seen.talosMachines.some(({ metadata }) => metadata.name === talosMachine)) return false;
  const object = [seen.controlPlane, ...seen.workers].find((one) => one?.metadata.name === pool);
  if (object === undefined) return true;
  const isListed = (object.spec?.metalSpec?.machines ?? []).some(({ machineRef }) => machineRef?.name === machine.metadata.name);
  return !isListed && (findCondition(object.status?.conditions, "Ready")?.observedGeneration ?? 0) >= (object.metadata.generation ?? 0);
}

/** The provider destroyed the machine, and it does not answer: there is nothing left to wipe. */
function isDestroyed(seen: Seen, { machine, talosMachine }: LeavingMachine): boolean {
  if (machine.metadata.deletionTimestamp === undefined || machine.status?.phase !== "Terminated") return false;
  const object = seen.talosMachines.find(({ metadata }) => metadata.name === talosMachine);
  // Somebody deleted its TalosMachine: the brain, which looks at it, says whether it answers.
  if (object === undefined) return seen.silent?.has(talosMachine) === true;
  return findCondition(object?.status?.conditions, "Reachable")?.status === "False";
}

/** Workers, then the control plane, then Machines, files and the finalizer: each goes only when what stands on it is gone. */
function takeDown(seen: Seen): Decision {
  const generation = seen.cluster.metadata.generation;
  const workers = seen.workers.filter((worker) => isOwn(seen, worker));
  const controlPlane = seen.controlPlane !== undefined && isOwn(seen, seen.controlPlane) ? seen.controlPlane : undefined;
  const say = (
    reason: "WaitingForWorkers" | "WaitingForChildren" | "Blocked",
    message: string,
  ): Pick<Decision, "stage" | "conditions" | "message"> => ({
    stage: "deleting",
    message,
    conditions: [conditionFor("Ready", "Deleting", message, generation), conditionFor("Deleting", reason, message, generation)],
  });
  const ask = (pools: readonly (TalosControlPlane | TalosWorker)[]): Decision["deletePools"] =>
    pools.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map(({ kind, metadata }) => ({ kind, name: metadata.name }));
  const namesOf = (objects: readonly { readonly metadata: { readonly name: string } }[]): string =>
    objects.map(({ metadata }) => metadata.name).join(", ");
  const sayPools = ([first, ...others]: readonly TalosWorker[]): ReturnType<typeof say> => {
    const words = deletingWords(controlPlane) || deletingWords(first);
    return first === undefined
      ? say("WaitingForChildren", `The control plane ${controlPlane?.metadata.name ?? ""} goes. ${words}`.trim())
      : say("WaitingForWorkers", `Worker pools go first: ${namesOf([first, ...others])}. ${words}`.trim());
  };
  if (isBeingOrphaned(seen.cluster.metadata))
    return {
      ...nothing,
      ...say("WaitingForChildren", "Deleted with --cascade=orphan: pools and Machines stay as they are, and are released first."),
    };
  if (isStillOfOthers(seen))
    return {
      ...nothing,
      ...say(
        "Blocked",
        `The cluster was not taken over yet, so nothing of it is deleted: ${namesOf(seen.machines)}. Approve the takeover, as the condition Imported of its TalosControlPlane says, and its machines are wiped and go. Or delete these Machines yourself, and take this cluster out of metadata.ownerReferences of those that are to stay.`,
      ),
    };
  // The control plane hears of it together with its workers: it takes them down first, and makes nothing more of the cluster meanwhile.
  if (controlPlane !== undefined || workers.length > 0)
    return { ...nothing, deletePools: ask([...workers, ...(controlPlane === undefined ? [] : [controlPlane])]), ...sayPools(workers) };
  if (seen.isAsked !== true)
    return { ...nothing, needsAsking: true, ...say("WaitingForChildren", "Whether all pools of the cluster are gone is asked.") };
  if (seen.machines.length > 0)
    return {
      ...nothing,
      release: seen.machines.filter(isHeld),
      ...say(
        "WaitingForChildren",
        `Machines go, and their providers finish with them: ${seen.machines.map(heldWords).join(", ")}. Each is gone once these finalizers are taken off.`,
      ),
    };
  return {
    ...nothing,
    removeFiles: true,
    removeFinalizer: true,
    ...say("WaitingForChildren", "Everything made for this cluster is gone."),
  };
}

/** A Machine, and who still has something to do with it. */
function heldWords({ metadata: { name, finalizers = [] } }: VitistackMachine): string {
  const others = finalizers.filter((one) => one !== compositionFinalizers.machineInUse);
  return others.length === 0 ? name : `${name} (${others.join(", ")})`;
}

/** There is still something for us to do about a Machine that goes. */
function isHeld({ metadata }: VitistackMachine): boolean {
  return metadata.deletionTimestamp === undefined || metadata.finalizers?.includes(compositionFinalizers.machineInUse) === true;
}

function invalid(seen: Seen, reason: ReadyReason, message: string): Decision {
  const generation = seen.cluster.metadata.generation;
  // Whatever is wrong with the spec, the cluster that runs is how it is.
  const own = seen.controlPlane !== undefined && isOwn(seen, seen.controlPlane) ? seen.controlPlane : undefined;
  const isRunning = isConditionTrue(own?.status?.conditions, "Bootstrapped");
  const ready = isRunning ? readyAsItRuns(seen) : conditionFor("Ready", reason, message, generation);
  const conditions: readonly ConditionInput[] = [
    conditionFor("TopologyValid", "ValidationFailed", message, generation),
    ready,
    conditionFor("Progressing", "Blocked", `See the condition ${isRunning ? "TopologyValid" : "Ready"}.`, generation),
    ...(own === undefined ? [] : etcdConditions({ stored: own, fields: writtenFields(seen) }, generation)),
  ];
  return { ...nothing, stage: ready.status === "True" ? "ready" : "invalid", message, conditions };
}

/** `Ready` of a cluster of whose newest spec nothing is carried out: by the pools that it has. */
function readyAsItRuns(seen: Seen): ConditionInput {
  const { generation } = seen.cluster.metadata;
  const [controlPlane, ...workers] = poolsOf(seen);
  const unready = controlPlane === undefined ? undefined : unreadyPool(controlPlane, workers);
  if (unready === undefined) return conditionFor("Ready", "AllReady", "The control plane and the workers are ready.", generation);
  return (
    readyAsBefore(unready, seen.cluster.status?.conditions, generation) ??
    conditionFor("Ready", unready.reason, unready.message, generation)
  );
}

/** An address that is to move between control planes must not be one that a machine has, or control planes of another cluster. */
function holderOfEndpoint({ machines, olderHolder }: Seen, { endpoint }: ClusterModel): string | undefined {
  if (endpoint.mode !== "given" || endpoint.heldAddress === undefined) return undefined;
  if (olderHolder !== undefined)
    return `spec.clusterEndpoint: control planes of ${olderHolder}, which is older, hold ${endpoint.heldAddress} too. Write a free address.`;
  const holder = machines.find(({ metadata }) => metadata.annotations?.[machineAnnotations.nodeAddress] === endpoint.heldAddress);
  if (holder === undefined) return undefined;
  return `spec.clusterEndpoint: ${endpoint.heldAddress} is the address of Machine ${holder.metadata.name}, and with endpointMode talosvip it moves from one control plane to another. Write a free address.`;
}

function foreignPool(seen: Seen, name: string): string | undefined {
  const pools = [seen.controlPlane, ...seen.workers].filter((pool) => pool !== undefined);
  const stolen = pools.find((pool) => !isOwn(seen, pool));
  if (stolen === undefined) return undefined;
  return `${stolen.kind} ${stolen.metadata.name} exists and is not this cluster's, and ${name} needs one of that name. Rename one of the two.`;
}

/** A CRD that is not ours lets people change the name. Pools and Machines of the old one would be taken for such that nobody wants any more. */
function renamed({ shape }: Seen, name: string, madeAs: string): string {
  const field = shape === "flat" ? "spec.clusterName" : "spec.topology, which takes the name of the object,";
  return `The cluster was made as ${madeAs}, and ${field} makes it ${name.slice(0, 64)}: its machines are named after it, and this cannot change. Nothing is made, changed or removed. Set it back; for another name make another cluster.`;
}

function isOwn({ cluster }: Seen, object: TalosControlPlane | TalosWorker): boolean {
  return object.metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === cluster.metadata.uid) === true;
}

function hasFinalizer({ cluster }: Seen): boolean {
  return cluster.metadata.finalizers?.includes(compositionFinalizers.cluster) === true;
}

function deletingWords(pool: TalosControlPlane | TalosWorker | undefined): string {
  return findCondition(pool?.status?.conditions, "Deleting")?.message ?? "";
}
