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
import { isBeingOrphaned } from "../shared/delete-owned.ts";
import { unknownModeField } from "../shared/mode.ts";
import type { Condition, ConditionInput, Finding, ReadyReason, TalosCluster, TalosControlPlane, TalosWorker } from "@talos-operator/api";

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
  const inert = inertOf(cluster);
  const nothing = { addFinalizer: false, removeFinalizer: false, apply: [], remove: [] };
  if (cluster.metadata.deletionTimestamp !== undefined) return takeDown(seen, hasFinalizer);

  // Whatever is wrong with the spec, the cluster that runs is how it is.
  const ofCluster = seen.controlPlane !== undefined && isPartOf(seen.controlPlane, cluster) ? seen.controlPlane : undefined;
  const blocked = (reason: ReadyReason, message: string): ClusterDecision => ({
    ...nothing,
    conditions: [
      conditionFor("Ready", reason, message, generation),
      conditionFor("Progressing", "Blocked", "See the condition Ready.", generation),
      ...(ofCluster === undefined ? [] : mirrored(ofCluster, generation)),
      ...inert,
    ],
  });
  const { spec } = cluster;
  const children = childrenOf(cluster);
  const referenced = spec?.controlPlaneRef?.name ?? "";
  if (children.controlPlane === undefined && referenced === "")
    return blocked("SpecMissing", "The cluster has no control plane. Write spec.controlPlane, or name one in spec.controlPlaneRef.");
  const [first] = problems;
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
    const message = "Deleted with --cascade=orphan: the control plane and the worker pool stay as they are, and are let go of first.";
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
      ? (["WaitingForWorkers", `The worker pool ${ownWorker.metadata.name} goes first. ${words || deletingWords(ownWorker)}`] as const)
      : ([
          "WaitingForChildren",
          ownControlPlane === undefined
            ? "Everything made for this cluster is gone."
            : `The control plane ${ownControlPlane.metadata.name} goes. ${words}`,
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
      ...inertOf(cluster),
    ],
  };
}

function deletingWords(child: TalosControlPlane | TalosWorker): string {
  return findCondition(child.status?.conditions, "Deleting")?.message ?? "";
}

function summaryOf({ cluster, controlPlane, worker }: ClusterSeen, generation: number | undefined): readonly ConditionInput[] {
  const { spec } = cluster;
  const ready = (reason: ReadyReason, message: string): ConditionInput => conditionFor("Ready", reason, message, generation);
  if (controlPlane === undefined && spec?.controlPlane === undefined) {
    const message = `There is no TalosControlPlane ${spec?.controlPlaneRef?.name ?? ""} in this namespace. Create it, or correct spec.controlPlaneRef.name.`;
    return [ready("ControlPlaneNotFound", message), conditionFor("Progressing", "Blocked", message, generation)];
  }
  const workerName = spec?.worker === undefined ? (spec?.workerRef?.name ?? "") : cluster.metadata.name;
  if (worker === undefined && spec?.worker === undefined && workerName !== "") {
    const message = `There is no TalosWorker ${workerName} in this namespace. Create it, or correct spec.workerRef.name.`;
    return [
      ready("WorkerNotFound", message),
      conditionFor("Progressing", "Blocked", message, generation),
      ...mirrored(controlPlane, generation),
    ];
  }
  const isControlPlaneReady = isCurrent(controlPlane);
  const isWorkerReady = workerName === "" || isCurrent(worker);
  if (isControlPlaneReady && isWorkerReady)
    return [
      ready("AllReady", "The control plane and the workers are ready."),
      changingOf(controlPlane, generation) ?? conditionFor("Progressing", "Settled", "Nothing is left to do.", generation),
      ...mirrored(controlPlane, generation),
    ];
  const cause = isControlPlaneReady ? worker : controlPlane;
  const why = findCondition(cause?.status?.conditions, "Ready");
  const message = `${isControlPlaneReady ? "TalosWorker" : "TalosControlPlane"} ${cause?.metadata.name ?? cluster.metadata.name}: ${why === undefined ? "it was not looked at yet." : why.status === "True" ? "it has not seen the newest spec yet." : why.message}`;
  return [
    ready(isControlPlaneReady ? "WorkersNotReady" : "ControlPlaneNotReady", message),
    progressOf(cause, message, generation),
    ...mirrored(controlPlane, generation),
  ];
}

function progressOf(child: TalosControlPlane | TalosWorker | undefined, message: string, generation: number | undefined): ConditionInput {
  const progress = findCondition(child?.status?.conditions, "Progressing");
  if (progress === undefined) return conditionFor("Progressing", "Composing", message, generation);
  return {
    type: "Progressing",
    status: progress.status,
    reason: progress.reason,
    message: progress.message,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}

/** What is still being changed of a cluster that is ready: its settings. */
function changingOf(controlPlane: TalosControlPlane | undefined, generation: number | undefined): ConditionInput | undefined {
  const conditions = controlPlane?.status?.conditions;
  if (findCondition(conditions, "Progressing")?.reason !== "ChangingConfiguration") return undefined;
  const told = findCondition(conditions, "ConfigUpToDate")?.message ?? "See its condition ConfigUpToDate.";
  return conditionFor(
    "Progressing",
    "ChangingConfiguration",
    `TalosControlPlane ${controlPlane?.metadata.name ?? ""}: ${told}`,
    generation,
  );
}

/** `Bootstrapped` and `EtcdHealthy` as the control plane says them. */
function mirrored(controlPlane: TalosControlPlane | undefined, generation: number | undefined): readonly ConditionInput[] {
  return ["Bootstrapped", "EtcdHealthy"].flatMap((type) => {
    const condition: Condition | undefined = findCondition(controlPlane?.status?.conditions, type);
    if (condition === undefined) return [];
    const { status, reason, message } = condition;
    return [{ type, status, reason, message, ...(generation === undefined ? {} : { observedGeneration: generation }) }];
  });
}

/** Ready, and said of the newest spec. */
function isCurrent(child: TalosControlPlane | TalosWorker | undefined): boolean {
  const ready = findCondition(child?.status?.conditions, "Ready");
  return isConditionTrue(child?.status?.conditions, "Ready") && (ready?.observedGeneration ?? 0) >= (child?.metadata.generation ?? 0);
}

function isOwnedBy(child: TalosControlPlane | TalosWorker, cluster: TalosCluster): boolean {
  return child.metadata.ownerReferences?.some((owner) => owner.uid === cluster.metadata.uid) === true;
}

/** Made by the cluster, or what it refers to. */
function isPartOf(controlPlane: TalosControlPlane, cluster: TalosCluster): boolean {
  return isOwnedBy(controlPlane, cluster) || cluster.spec?.controlPlaneRef?.name === controlPlane.metadata.name;
}

function inertOf(cluster: TalosCluster): readonly ConditionInput[] {
  const inert = [
    ...unknownModeField(cluster.metadata),
    ...(cluster.spec?.pxeServerSpec === undefined ? [] : ["spec.pxeServerSpec"]),
    ...misplacedWords(cluster),
  ];
  if (inert.length === 0) return [];
  return [
    conditionFor(
      "FieldNotSupported",
      "FieldNotSupported",
      `Set and without effect in this release: ${inert.join(", ")}.`,
      cluster.metadata.generation,
    ),
  ];
}

/** Words of a person that are read from the control plane alone. */
const OF_CONTROL_PLANE: readonly string[] = [
  annotations.abandonMachine,
  annotations.acceptIdentity,
  annotations.adopt,
  annotations.approveReprovision,
  annotations.confirmReset,
  annotations.importApprove,
  annotations.proceedWithoutDrain,
  annotations.retryConfig,
];

/** They would be waited for in vain. */
function misplacedWords(cluster: TalosCluster): readonly string[] {
  const name = cluster.spec?.controlPlane === undefined ? (cluster.spec?.controlPlaneRef?.name ?? "") : cluster.metadata.name;
  return OF_CONTROL_PLANE.filter((word) => cluster.metadata.annotations?.[word] !== undefined).map(
    (word) => `the annotation ${word} (it acts on TalosControlPlane ${name}: set it there)`,
  );
}
