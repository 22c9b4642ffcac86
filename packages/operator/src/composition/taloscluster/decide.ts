import {
  annotations,
  apiVersionOf,
  conditionFor,
  controllerReference,
  findCondition,
  findingsMessage,
  isConditionTrue,
  talosClusterResource,
  talosControlPlaneResource,
  talosWorkerResource,
} from "@talos-operator/api";
import { isBeingOrphaned } from "../../controllers/shared/delete-owned.ts";
import { unknownModeField } from "../../controllers/shared/mode.ts";
import { unreadAnnotations } from "../../spec/unread-annotations.ts";
import {
  etcdConditions,
  progressOfReady,
  progressOfUnready,
  readyAsBefore,
  refusedEditsOf,
  unreadyPool,
  upgradesOf,
} from "../../controllers/shared/pools.ts";
import type { StoredPool } from "../../controllers/shared/pools.ts";
import { withAdded, written } from "../../controllers/shared/written-fields.ts";
import { blockedByEdit, isForAuthor, refusalOf } from "../../report/edit-refused.ts";
import type { WrittenFields } from "../../controllers/shared/written-fields.ts";
import type { ConditionInput, Finding, ReadyReason, TalosCluster, TalosControlPlane, TalosWorker } from "@talos-operator/api";

/** Everything that one pass over a TalosCluster looks at. */
export interface ClusterSeen {
  readonly cluster: TalosCluster;
  /** The control plane that the cluster makes or refers to. */
  readonly controlPlane: TalosControlPlane | undefined;
  readonly worker: TalosWorker | undefined;
  /** What is wrong with the children that the cluster describes inline. */
  readonly problems: readonly Finding[];
}

/** What a pass does and says. */
export interface ClusterDecision {
  readonly addFinalizer: boolean;
  readonly removeFinalizer: boolean;
  /** Children to make, or to bring to what the cluster says. */
  readonly apply: readonly (TalosControlPlane | TalosWorker)[];
  /** Children of this cluster that go; never one that it only refers to. */
  readonly remove: readonly { readonly kind: "TalosControlPlane" | "TalosWorker"; readonly name: string }[];
  readonly conditions: readonly ConditionInput[];
}

/** The children that a cluster describes inline, named like the cluster. */
export function childrenOf(cluster: TalosCluster): {
  readonly controlPlane: TalosControlPlane | undefined;
  readonly worker: TalosWorker | undefined;
} {
  const { spec, metadata } = cluster;
  const owner = { apiVersion: apiVersionOf(talosClusterResource), kind: cluster.kind, metadata };
  const child = {
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    ownerReferences: metadata.uid === undefined ? [] : [controllerReference(owner)],
  };
  const controlPlaneName = spec?.controlPlane === undefined ? (spec?.controlPlaneRef?.name ?? "") : metadata.name;
  return {
    controlPlane:
      spec?.controlPlane === undefined
        ? undefined
        : {
            apiVersion: apiVersionOf(talosControlPlaneResource) as TalosControlPlane["apiVersion"],
            kind: "TalosControlPlane",
            metadata: { ...child, ...keysOf(metadata) },
            spec: spec.controlPlane,
          },
    worker:
      spec?.worker === undefined
        ? undefined
        : {
            apiVersion: apiVersionOf(talosWorkerResource) as TalosWorker["apiVersion"],
            kind: "TalosWorker",
            metadata: child,
            spec: { ...spec.worker, controlPlaneRef: { name: controlPlaneName } },
          },
  };
}

/** Where the keys of a cluster that is taken over are: a control plane that is made for that needs the word from its first moment. */
function keysOf({ annotations: words }: TalosCluster["metadata"]): { readonly annotations?: Readonly<Record<string, string>> } {
  const named = words?.[annotations.importBundle];
  return named === undefined || named === "" ? {} : { annotations: { [annotations.importBundle]: named } };
}

/** Composes the children of a cluster and sums up how they are. Pure. */
export function decideCluster(seen: ClusterSeen, finalizer: string): ClusterDecision {
  const { cluster, problems } = seen;
  const generation = cluster.metadata.generation;
  const hasFinalizer = (cluster.metadata.finalizers ?? []).includes(finalizer);
  const inert = inertOf(seen);
  const nothing = { addFinalizer: false, removeFinalizer: false, apply: [], remove: [] };
  if (cluster.metadata.deletionTimestamp !== undefined) return takeDown(seen, hasFinalizer);

  // Whatever is wrong with the spec, the cluster that runs is how it is.
  const ofCluster = seen.controlPlane !== undefined && isPartOf(seen.controlPlane, cluster) ? seen.controlPlane : undefined;
  const blocked = (reason: ReadyReason, message: string): ClusterDecision => ({
    ...nothing,
    conditions: [
      conditionFor("Ready", reason, message, generation),
      conditionFor("Progressing", "Blocked", "See Ready.", generation),
      ...(ofCluster === undefined ? [] : etcdConditions(controlPlaneOf({ cluster, controlPlane: ofCluster }), generation)),
      ...inert,
    ],
  });
  const { spec } = cluster;
  const children = childrenOf(cluster);
  const referenced = spec?.controlPlaneRef?.name ?? "";
  if (children.controlPlane === undefined && referenced === "")
    return blocked("SpecMissing", "The cluster has no control plane. Write spec.controlPlane, or name one in spec.controlPlaneRef.");
  const [first] = problems;
  if (isForAuthor(problems) && runs(ofCluster)) return { ...nothing, conditions: [...refusing(seen, generation), ...inert] };
  if (first !== undefined) return blocked(first.reason, findingsMessage(problems));
  for (const [wanted, existing] of [
    [children.controlPlane, seen.controlPlane],
    [children.worker, seen.worker],
  ] as const) {
    if (wanted !== undefined && existing !== undefined && !isOwnedBy(existing, cluster))
      return blocked(
        "NameConflict",
        `A ${wanted.kind} named ${wanted.metadata.name} exists and is not this cluster's. Rename one of them, or refer to it.`,
      );
  }
  if (!hasFinalizer)
    return {
      ...nothing,
      addFinalizer: true,
      conditions: [conditionFor("Progressing", "Composing", "The cluster's objects are being made.", generation), ...inert],
    };

  const apply = [children.controlPlane, children.worker].filter((child) => child !== undefined);
  // A pool that was taken out of the spec goes under its own policy.
  const orphan =
    children.worker === undefined &&
    seen.worker !== undefined &&
    seen.worker.metadata.deletionTimestamp === undefined &&
    isOwnedBy(seen.worker, cluster);
  return {
    ...nothing,
    apply,
    remove: orphan ? [{ kind: "TalosWorker", name: seen.worker.metadata.name }] : [],
    conditions: [...summaryOf(seen, generation), ...inert],
  };
}

function takeDown({ cluster, controlPlane, worker }: ClusterSeen, hasFinalizer: boolean): ClusterDecision {
  const generation = cluster.metadata.generation;
  if (isBeingOrphaned(cluster.metadata)) {
    const message = "Deleted with --cascade=orphan: the control plane and the worker pool stay as they are, and are released first.";
    const conditions = [
      conditionFor("Ready", "Deleting", message, generation),
      conditionFor("Deleting", "WaitingForChildren", message, generation),
    ];
    return { addFinalizer: false, removeFinalizer: false, apply: [], remove: [], conditions };
  }
  const ownWorker = worker !== undefined && isOwnedBy(worker, cluster) ? worker : undefined;
  const ownControlPlane = controlPlane !== undefined && isOwnedBy(controlPlane, cluster) ? controlPlane : undefined;
  const words = ownControlPlane === undefined ? "" : deletingWords(ownControlPlane);
  const [reason, message] =
    ownWorker !== undefined
      ? ([
          "WaitingForWorkers",
          `Deleting: worker pool ${ownWorker.metadata.name} first, then the control plane. ${words || deletingWords(ownWorker)}`,
        ] as const)
      : ([
          "WaitingForChildren",
          ownControlPlane === undefined
            ? "Everything made for this cluster is gone."
            : `Deleting the control plane ${ownControlPlane.metadata.name}. ${words}`,
        ] as const);
  // The control plane hears of it together with its workers: it takes them down first, and makes nothing more of the cluster meanwhile.
  const going = [ownControlPlane, ownWorker].filter((child) => child !== undefined);
  return {
    addFinalizer: false,
    removeFinalizer: hasFinalizer && going.length === 0,
    apply: [],
    remove: going
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ kind, metadata }) => ({ kind, name: metadata.name })),
    conditions: [
      conditionFor("Ready", "Deleting", message, generation),
      conditionFor("Deleting", reason, message, generation),
      ...inertOf({ cluster, controlPlane, worker }),
    ],
  };
}

function deletingWords(child: TalosControlPlane | TalosWorker): string {
  return findCondition(child.status?.conditions, "Deleting")?.message ?? "";
}

/** etcd was bootstrapped: an edit that is refused takes nothing from what runs. */
function runs(controlPlane: TalosControlPlane | undefined): boolean {
  return isConditionTrue(controlPlane?.status?.conditions, "Bootstrapped");
}

/** A cluster of whose newest spec nothing is carried out: it is as ready as the pools that it has. */
function refusing(seen: ClusterSeen, generation: number | undefined): readonly ConditionInput[] {
  const [ofControlPlane, ...ofWorkers] = poolsOf(seen);
  const there = ofWorkers.filter(({ stored }) => stored !== undefined);
  const told = readinessOf(seen, ofControlPlane, there, generation).filter(({ type }) => type !== "Progressing" && type !== "EditRefused");
  return [...told, blockedByEdit(generation), refusalOf(seen.problems, generation)];
}

function summaryOf({ cluster, controlPlane, worker }: ClusterSeen, generation: number | undefined): readonly ConditionInput[] {
  const { spec } = cluster;
  const ready = (reason: ReadyReason, message: string): ConditionInput => conditionFor("Ready", reason, message, generation);
  if (controlPlane === undefined && spec?.controlPlane === undefined) {
    const message = `There is no TalosControlPlane ${spec?.controlPlaneRef?.name ?? ""} in this namespace. Create it, or correct spec.controlPlaneRef.name.`;
    return [ready("ControlPlaneNotFound", message), conditionFor("Progressing", "Blocked", message, generation)];
  }
  const pools = poolsOf({ cluster, controlPlane, worker });
  const [ofControlPlane, ...ofWorkers] = pools;
  const [missing] = spec?.worker === undefined ? ofWorkers.filter(({ stored }) => stored === undefined) : [];
  if (missing !== undefined) {
    const message = `There is no TalosWorker ${missing.name} in this namespace. Create it, or correct spec.workerRef.name.`;
    return [
      ready("WorkerNotFound", message),
      conditionFor("Progressing", "Blocked", message, generation),
      ...etcdConditions(ofControlPlane, generation),
    ];
  }
  return readinessOf({ cluster, worker }, ofControlPlane, ofWorkers, generation);
}

/** How ready the pools are, and what they say of the cluster as a whole. */
function readinessOf(
  { cluster, worker }: Pick<ClusterSeen, "cluster" | "worker">,
  ofControlPlane: StoredPool,
  ofWorkers: readonly StoredPool[],
  generation: number | undefined,
): readonly ConditionInput[] {
  const pools = [ofControlPlane, ...ofWorkers];
  const ready = (reason: ReadyReason, message: string): ConditionInput => conditionFor("Ready", reason, message, generation);
  const standing = [...etcdConditions(ofControlPlane, generation), ...upgradesOf(pools, generation), ...refusedEditsOf(pools, generation)];
  const unready = unreadyPool(ofControlPlane, [...ofWorkers, ...goingPool({ cluster, worker })]);
  if (unready !== undefined)
    return [
      readyAsBefore(unready, cluster.status?.conditions, generation) ?? ready(unready.reason, unready.message),
      progressOfUnready(unready, generation),
      ...standing,
    ];
  return [ready("AllReady", "The control plane and the workers are ready."), progressOfReady(pools, generation), ...standing];
}

/** Fields of a TalosMachine that a person made, which pools speak of and do not have, and a reference that the cluster has itself. */
const OF_OTHERS: WrittenFields = Object.fromEntries(
  ["controlPlaneRef", "workerRef", "type", "ips", "installDisk", "machineSpec"].map((name) => [`spec.${name}`, `spec.${name}`]),
);

/** Where the fields of pools are that a cluster describes itself. */
const OF_CONTROL_PLANE_HERE: WrittenFields = { ...OF_OTHERS, spec: "spec.controlPlane" };
const OF_WORKER_HERE: WrittenFields = { ...OF_OTHERS, spec: "spec.worker" };

function controlPlaneOf({ cluster: { spec, metadata }, controlPlane }: Pick<ClusterSeen, "cluster" | "controlPlane">): StoredPool {
  const pool = { kind: "TalosControlPlane", stored: controlPlane } as const;
  if (spec?.controlPlane === undefined) return { ...pool, name: spec?.controlPlaneRef?.name ?? "" };
  return { ...pool, name: metadata.name, fields: withAdded(OF_CONTROL_PLANE_HERE, controlPlane?.spec, spec.controlPlane) };
}

/** The control plane, then the worker pool where the cluster has one. */
export function poolsOf({ cluster, controlPlane, worker }: Omit<ClusterSeen, "problems">): readonly [StoredPool, ...StoredPool[]] {
  const { spec, metadata } = cluster;
  const pool = { kind: "TalosWorker", stored: worker } as const;
  const referenced = spec?.workerRef?.name ?? "";
  const workers: readonly StoredPool[] =
    spec?.worker === undefined
      ? [{ ...pool, name: referenced }].filter(({ name }) => name !== "")
      : [{ ...pool, name: metadata.name, fields: withAdded(OF_WORKER_HERE, worker?.spec, childrenOf(cluster).worker?.spec) }];
  return [controlPlaneOf({ cluster, controlPlane }), ...workers];
}

/** The worker pool that the spec describes no more, while its machines leave. */
function goingPool({ cluster, worker }: Pick<ClusterSeen, "cluster" | "worker">): readonly StoredPool[] {
  const { worker: described, workerRef } = cluster.spec ?? {};
  if (worker === undefined || described !== undefined || (workerRef?.name ?? "") !== "" || !isOwnedBy(worker, cluster)) return [];
  return [{ kind: worker.kind, name: worker.metadata.name, stored: worker }];
}

function isOwnedBy(child: TalosControlPlane | TalosWorker, cluster: TalosCluster): boolean {
  return child.metadata.ownerReferences?.some((owner) => owner.uid === cluster.metadata.uid) === true;
}

/** Made by the cluster, or what it refers to. */
function isPartOf(controlPlane: TalosControlPlane, cluster: TalosCluster): boolean {
  return isOwnedBy(controlPlane, cluster) || cluster.spec?.controlPlaneRef?.name === controlPlane.metadata.name;
}

function inertOf(seen: Omit<ClusterSeen, "problems">): readonly ConditionInput[] {
  const { cluster } = seen;
  const inert = [
    ...unknownModeField(cluster.metadata),
    ...(cluster.spec?.pxeServerSpec === undefined ? [] : ["spec.pxeServerSpec"]),
    ...misplacedWords(cluster),
  ];
  const own = inert.length === 0 ? [] : [`Field ignored in metal mode: ${inert.join(", ")}.`];
  const sentences = [...own, ...unreadAnnotations(cluster.metadata), ...notesOfChildren(seen)];
  if (sentences.length === 0) return [];
  return [conditionFor("FieldNotSupported", "FieldNotSupported", sentences.join(" "), cluster.metadata.generation)];
}

/** What pools say of fields that the cluster describes: with the places where the person wrote them. */
function notesOfChildren(seen: Omit<ClusterSeen, "problems">): readonly string[] {
  return poolsOf(seen).flatMap(({ fields, stored }) => {
    if (fields === undefined || stored === undefined || !isOwnedBy(stored, seen.cluster)) return [];
    const note = findCondition(stored.status?.conditions, "FieldNotSupported");
    return note === undefined ? [] : [written(note.message, fields)];
  });
}

/** Words of a person that are read from the control plane alone. */
const OF_CONTROL_PLANE: readonly string[] = [
  annotations.abandonMachine,
  annotations.acceptHazard,
  annotations.acceptIdentity,
  annotations.adopt,
  annotations.allowDowngrade,
  annotations.allowExtensionLoss,
  annotations.allowKernelArgumentLoss,
  annotations.approveKubeletCertificates,
  annotations.approveOutage,
  annotations.approveReprovision,
  annotations.confirmReset,
  annotations.defragment,
  annotations.drainPolicy,
  annotations.drainTimeout,
  annotations.givenSecrets,
  annotations.importApprove,
  annotations.liftQuarantine,
  annotations.proceedWithoutDrain,
  annotations.retryConfig,
];

/** Of these, words that are read from the pool whose machines they are about. */
const OF_POOL: ReadonlySet<string> = new Set([annotations.acceptHazard, annotations.confirmReset]);

/** They would be waited for in vain. */
function misplacedWords(cluster: TalosCluster): readonly string[] {
  const name = cluster.spec?.controlPlane === undefined ? (cluster.spec?.controlPlaneRef?.name ?? "") : cluster.metadata.name;
  return OF_CONTROL_PLANE.filter((word) => cluster.metadata.annotations?.[word] !== undefined).map(
    (word) =>
      `the annotation ${word} (it acts on ${OF_POOL.has(word) ? "the pool of the machines" : `TalosControlPlane ${name}`}: set it there)`,
  );
}
