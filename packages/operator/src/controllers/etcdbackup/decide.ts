import {
  conditionFor,
  controllerOf,
  controllerReference,
  findCondition,
  findingsMessage,
  isConditionTrue,
  releaseOf,
  validateBackupSpec,
} from "@talos-operator/api";
import type {
  BackupOptions,
  Condition,
  ConditionInput,
  EtcdBackup,
  EtcdBackupSpec,
  EtcdBackupStorage,
  EventReason,
  Finding,
  ReadyReason,
  TalosEtcdBackup,
  TalosEtcdBackupSchedule,
  TalosEtcdBackupSpec,
} from "@talos-operator/api";

/** What is waited for is looked at this often: nothing tells when a Secret changes. Milliseconds. */
const HELD_AGAIN_MS = 30_000;
const SETTLED_AGAIN_MS = 600_000;

/** What an EtcdBackup demands is carried out by a TalosEtcdBackup, or by a TalosEtcdBackupSchedule, of its name. */
export type Carrier = TalosEtcdBackup | TalosEtcdBackupSchedule;

/** Everything that one pass looks at. */
export interface EtcdBackupSeen {
  /** With a spec. */
  readonly backup: EtcdBackup & { readonly spec: EtcdBackupSpec };
  /** Of its spec, by validation. */
  readonly problems: readonly Finding[];
  readonly isTerminating: boolean;
  readonly cluster: { readonly kind: "present"; readonly controlPlane: string } | { readonly kind: "absent"; readonly message: string };
  /** What its storage and its Secret make together. */
  readonly store:
    | { readonly kind: "read"; readonly value: EtcdBackupStorage }
    | { readonly kind: "missing"; readonly reason?: ReadyReason; readonly message: string };
  /** The objects of its name, whoever owns them. */
  readonly once: TalosEtcdBackup | undefined;
  readonly schedule: TalosEtcdBackupSchedule | undefined;
  /** The newest successful backup of its schedule. */
  readonly newest: TalosEtcdBackup | undefined;
  readonly limits: BackupOptions;
}

/** At most one thing in a pass. */
export type EtcdBackupAct =
  | { readonly kind: "none" }
  | { readonly kind: "create"; readonly object: Carrier }
  /** A merge patch of the spec of what carries it out. */
  | { readonly kind: "patch"; readonly object: Carrier; readonly value: object }
  /** A schedule that is not asked for any more; what is stored stays. */
  | { readonly kind: "delete"; readonly object: TalosEtcdBackupSchedule };

export interface EtcdBackupDecision {
  readonly act: EtcdBackupAct;
  readonly fields: Readonly<Record<string, string | number | undefined>>;
  readonly conditions: readonly ConditionInput[];
  /** What carries it out, if anything does. */
  readonly carrier: Carrier | undefined;
  readonly news: readonly { readonly reason: EventReason; readonly note: string }[];
  readonly requeueAfterMs: number;
}

/** Another operator finished it: no status of ours lacks a generation. It is not repeated. */
export function isOfOthers({ spec, status }: EtcdBackup): boolean {
  const isFinished = status?.phase === "Completed" || status?.phase === "Failed";
  return isFinished && status.observedGeneration === undefined && (spec?.schedule ?? "") === "";
}

/** Decides about one EtcdBackup. Pure. */
export function decideEtcdBackup(seen: EtcdBackupSeen): EtcdBackupDecision {
  const { backup, schedule, once } = seen;
  const isScheduled = (backup.spec.schedule ?? "") !== "";
  const isOwn = (one: Carrier | undefined): boolean => one !== undefined && controllerOf(one.metadata)?.uid === backup.metadata.uid;
  const found = isScheduled ? schedule : once;
  if (!isScheduled && schedule !== undefined && isOwn(schedule) && schedule.metadata.deletionTimestamp === undefined)
    return told(seen, undefined, "BackupInProgress", "The schedule is taken away: spec.schedule is empty.", {
      kind: "delete",
      object: schedule,
    });
  const carrier = isOwn(found) ? found : undefined;
  const wanted = wantedSpec(seen);
  if ("reason" in wanted) return told(seen, carrier, wanted.reason, wanted.message);
  if (found !== undefined && carrier === undefined)
    return told(seen, undefined, "NameConflict", `${found.kind} ${found.metadata.name} is there and another's. Rename one of them.`);
  if (carrier === undefined) {
    const object = carrierOf(backup, wanted.spec);
    return told(seen, undefined, "BackupInProgress", `${object.kind} ${object.metadata.name} is about to be made.`, {
      kind: "create",
      object,
    });
  }
  if (carrier.metadata.deletionTimestamp !== undefined)
    return told(seen, undefined, "BackupInProgress", `${carrier.kind} ${carrier.metadata.name} is going away and is made anew then.`);
  const value = changeOf(backup.spec, carrier, wanted.spec);
  return summed(seen, carrier, value === undefined ? { kind: "none" } : { kind: "patch", object: carrier, value });
}

/** The spec of each backup, or what is in the way of it. */
function wantedSpec(
  seen: EtcdBackupSeen,
): { readonly spec: TalosEtcdBackupSpec } | { readonly reason: ReadyReason; readonly message: string } {
  const { problems, isTerminating, cluster, store, limits } = seen;
  const [problem] = problems;
  if (isTerminating) return { reason: "NamespaceTerminating", message: "The namespace is going away: no backup is begun." };
  if (problem !== undefined) return { reason: problem.reason, message: findingsMessage(problems) };
  if (cluster.kind === "absent") return { reason: "ControlPlaneNotFound", message: cluster.message };
  if (store.kind === "missing") return { reason: store.reason ?? "KeysNotReadable", message: store.message };
  const { storage, recipients } = store.value;
  const spec: TalosEtcdBackupSpec = {
    talosControlPlaneRef: { name: cluster.controlPlane },
    storageType: storage.s3 === undefined ? "Directory" : "S3",
    backupStorage: storage,
    ...(recipients.length === 0 ? {} : { encryption: { recipients } }),
  };
  const [bad] = validateBackupSpec(spec, limits);
  return bad === undefined ? { spec } : { reason: bad.reason, message: findingsMessage(validateBackupSpec(spec, limits)) };
}

function carrierOf({ apiVersion, kind, metadata, spec }: EtcdBackupSeen["backup"], wanted: TalosEtcdBackupSpec): Carrier {
  const { namespace, name } = metadata;
  const own = {
    ...(namespace === undefined ? {} : { namespace }),
    name,
    ownerReferences: [controllerReference({ apiVersion, kind, metadata })],
  };
  const group = "talos.alperen.cloud/v1alpha1" as const;
  return (spec.schedule ?? "") === ""
    ? { apiVersion: group, kind: "TalosEtcdBackup", metadata: own, spec: wanted }
    : { apiVersion: group, kind: "TalosEtcdBackupSchedule", metadata: own, spec: { ...scheduled(spec), backupTemplate: { spec: wanted } } };
}

function scheduled({ schedule = "", retention = 7 }: EtcdBackupSpec): { readonly schedule: string; readonly retention: number } {
  return { schedule, retention };
}

/** What of the carrier's spec is to be changed; what people set beside it stays theirs. */
function changeOf(spec: EtcdBackupSpec, carrier: Carrier, wanted: TalosEtcdBackupSpec): object | undefined {
  if (carrier.kind === "TalosEtcdBackup") return isSame(carrier.spec, wanted) ? undefined : { spec: patchOf(wanted) };
  const { schedule, retention } = scheduled(spec);
  const { backupTemplate } = carrier.spec;
  return carrier.spec.schedule === schedule && carrier.spec.retention === retention && isSame(backupTemplate.spec, wanted)
    ? undefined
    : { spec: { schedule, retention, backupTemplate: { spec: patchOf(wanted) } } };
}

/** Fields of `s3` that an EtcdBackup may leave out. */
const OPTIONAL = ["endpoint", "prefix", "accessKeyID", "secretAccessKey", "sessionToken", "caBundle"] as const;

function patchOf({ talosControlPlaneRef, storageType, backupStorage: { s3, directory }, encryption }: TalosEtcdBackupSpec): object {
  const none = Object.fromEntries(OPTIONAL.map((name) => [name, null]));
  return {
    talosControlPlaneRef,
    storageType,
    encryption: encryption ?? null,
    backupStorage: {
      s3: s3 === undefined ? null : { ...none, ...s3 },
      directory: directory === undefined ? null : { path: null, ...directory },
    },
  };
}

function isSame(is: TalosEtcdBackupSpec, wanted: TalosEtcdBackupSpec): boolean {
  const textOf = ({ talosControlPlaneRef, storageType, backupStorage: { s3, directory }, encryption }: TalosEtcdBackupSpec): string =>
    JSON.stringify([
      talosControlPlaneRef?.name,
      storageType,
      encryption?.recipients ?? [],
      s3 === undefined ? null : [s3.bucket, s3.region, ...OPTIONAL.map((name) => keyOf(s3[name]))],
      directory === undefined ? null : (directory.path ?? ""),
    ]);
  return textOf(is) === textOf(wanted);
}

function keyOf(value: string | { readonly name?: string; readonly key: string } | undefined): readonly (string | undefined)[] {
  return typeof value === "object" ? [value.name, value.key] : [value];
}

// --- what is said

/** Nothing carries it out yet, or something is in the way of what it says by now. */
function told(
  seen: EtcdBackupSeen,
  carrier: Carrier | undefined,
  reason: ReadyReason,
  message: string,
  act: EtcdBackupAct = { kind: "none" },
): EtcdBackupDecision {
  const { generation } = seen.backup.metadata;
  const isHeld = releaseOf({ type: "Ready", reason }) === "person";
  const has = seen.backup.status;
  return {
    act,
    fields: {
      ...(has?.backupCount === undefined ? {} : { backupCount: has.backupCount }),
      ...(has?.backupSize === undefined ? {} : { backupSize: has.backupSize }),
      ...(has?.lastBackupTime === undefined ? {} : { lastBackupTime: has.lastBackupTime }),
      nextBackupTime: undefined,
      phase: "Pending",
      message,
    },
    conditions: [
      conditionFor("Ready", reason, message, generation),
      conditionFor("Progressing", isHeld ? "Blocked" : "BackupInProgress", message, generation),
      conditionFor("Failed", isHeld ? "NotStarted" : "BackupInProgress", isHeld ? "See Ready." : message, generation),
    ],
    carrier,
    news: [],
    requeueAfterMs: act.kind === "none" ? HELD_AGAIN_MS : 0,
  };
}

const SAID = [
  "Ready",
  "Progressing",
  "Failed",
  "Proved",
  "KeysNotBackedUp",
  "InsecureObjectStorage",
  "BackupStoreSecretUnlabelled",
] as const;

/** What the object that carries it out says, in the published words. */
function summed(seen: EtcdBackupSeen, carrier: Carrier, act: EtcdBackupAct): EtcdBackupDecision {
  const { generation } = seen.backup.metadata;
  const isOld = act.kind === "patch" || (carrier.status?.observedGeneration ?? -1) < (carrier.metadata.generation ?? 0);
  if (isOld && carrier.status?.conditions === undefined)
    return { ...told(seen, carrier, "BackupInProgress", `${carrier.kind} ${carrier.metadata.name} has not answered yet.`, act) };
  const conditions = (carrier.status?.conditions ?? [])
    .filter(({ type }) => SAID.some((one) => one === type))
    .map(({ lastTransitionTime: _kept, ...condition }): ConditionInput => ({
      ...condition,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    }));
  const message = findCondition(carrier.status?.conditions, "Ready")?.message ?? "";
  return {
    act,
    fields: { ...sums(carrier, seen.newest), phase: phaseOf(carrier), message },
    conditions,
    carrier,
    news: newsOf(seen.backup, carrier),
    requeueAfterMs: act.kind === "none" ? SETTLED_AGAIN_MS : 0,
  };
}

function sums(carrier: Carrier, newest: TalosEtcdBackup | undefined): EtcdBackupDecision["fields"] {
  const good = carrier.kind === "TalosEtcdBackup" ? (isConditionTrue(carrier.status?.conditions, "Ready") ? carrier : undefined) : newest;
  const count = carrier.kind === "TalosEtcdBackup" ? (good === undefined ? 0 : 1) : (carrier.status?.backups ?? 0);
  return {
    backupCount: count,
    backupSize: good?.status?.size === undefined ? undefined : `${good.status.size}`,
    lastBackupTime: carrier.kind === "TalosEtcdBackup" ? good?.status?.completionTime : carrier.status?.lastSuccessfulBackupTime,
    nextBackupTime: carrier.kind === "TalosEtcdBackup" ? undefined : carrier.status?.nextScheduleTime,
  };
}

function phaseOf({ kind, status }: Carrier): "Pending" | "Running" | "Completed" | "Failed" {
  const conditions: readonly Condition[] = status?.conditions ?? [];
  const progress = findCondition(conditions, "Progressing");
  if (progress?.status === "True" && (kind === "TalosEtcdBackupSchedule" || status?.run !== undefined)) return "Running";
  if (isConditionTrue(conditions, "Failed")) return "Failed";
  const isDone = kind === "TalosEtcdBackup" ? isConditionTrue(conditions, "Ready") : status?.lastSuccessfulBackupTime !== undefined;
  return isDone ? "Completed" : "Pending";
}

/** Ends of backups, once each: what the status did not say before. */
function newsOf({ status }: EtcdBackup, carrier: Carrier): EtcdBackupDecision["news"] {
  const message = findCondition(carrier.status?.conditions, "Ready")?.message ?? "";
  const phase = phaseOf(carrier);
  const before = status?.conditions?.find(({ type }) => type === "Proved")?.reason;
  const proof = findCondition(carrier.status?.conditions, "Proved");
  return [
    ...(phase === "Failed" && status?.phase !== "Failed" ? [{ reason: "BackupFailed" as const, note: message }] : []),
    ...(proof?.reason === "ProofFailed" && before !== "ProofFailed" ? [{ reason: "ProofFailed" as const, note: proof.message }] : []),
  ];
}
