import {
  apiVersionOf,
  controllerOf,
  etcdBackupResource,
  reconcileModeOf,
  storageOfEtcdBackup,
  talosEtcdBackupResource,
  talosEtcdBackupScheduleResource,
  validateEtcdBackupSpec,
} from "@talos-operator/api";
import type {
  BackupOptions,
  EtcdBackup,
  EtcdBackupSpec,
  KubernetesCluster,
  ObjectMeta,
  TalosControlPlane,
  TalosEtcdBackup,
  TalosEtcdBackupSchedule,
} from "@talos-operator/api";
import { createController, deleteExactly, isAlreadyExists, isConflict, isNotFound, keyText, watchOf } from "@talos-operator/kube-runtime";
import type { Controller, Informer, KubeObject, ObjectKey, ReconcileResult, ResourceClient } from "@talos-operator/kube-runtime";
import { secretText, secretType } from "../../secrets/secret.ts";
import type { Secret } from "../../secrets/secret.ts";
import type { Telling } from "../../telling/telling.ts";
import { commonOptions } from "../shared/controller-ports.ts";
import type { ControllerPorts } from "../shared/controller-ports.ts";
import { judgedStatus, pausedMemory } from "../shared/kstatus.ts";
import { pausedCondition } from "../shared/mode.ts";
import { namespaceTerminates } from "../shared/namespace-terminates.ts";
import { isRefusedWrite } from "../shared/refused-write.ts";
import { createStatusWriter } from "../shared/status-writer.ts";
import type { StatusShape } from "../shared/status-writer.ts";
import { dueAt } from "../talosetcdbackup/slot.ts";
import { isStored } from "../talosetcdbackup/phase.ts";
import { labelRefusal, mayBackupsUse } from "../talosetcdbackup/store-keys.ts";
import { decideEtcdBackup, isOfOthers } from "./decide.ts";
import type { Carrier, EtcdBackupAct, EtcdBackupDecision, EtcdBackupSeen } from "./decide.ts";

const FIELD_MANAGER = "talos-operator/etcdbackup";

/** A write that was refused is tried again after this, and one that lost a race. Milliseconds. */
const REFUSED_AGAIN_MS = 30_000;
const AGAIN_MS = 500;

/** An EtcdBackup with the status that this operator gives it, which follows metav1.Condition. */
type Backup = Omit<EtcdBackup, "status"> & { readonly status?: Omit<NonNullable<EtcdBackup["status"]>, "conditions"> & StatusShape };

/** What the controller of EtcdBackups needs. */
export interface EtcdBackupControllerOptions extends ControllerPorts {
  readonly etcdBackups: Informer<EtcdBackup>;
  readonly backups: Informer<TalosEtcdBackup>;
  readonly schedules: Informer<TalosEtcdBackupSchedule>;
  /** With the indexes `id` and `uid`. */
  readonly clusters: Informer<KubernetesCluster>;
  /** With the index `controller`. */
  readonly controlPlanes: Informer<TalosControlPlane>;
  readonly events: Telling;
  /** What validation of specs knows of this operator. */
  readonly limits: BackupOptions;
}

/** Makes a TalosEtcdBackup or a TalosEtcdBackupSchedule for each EtcdBackup, and says of it what that says. */
export function createEtcdBackupController(options: EtcdBackupControllerOptions): Controller {
  const { client, clock, etcdBackups, backups, schedules, clusters, controlPlanes, events, limits } = options;
  const objects = client.resource<Backup>(etcdBackupResource);
  const once = client.resource<TalosEtcdBackup>(talosEtcdBackupResource);
  const scheduled = client.resource<TalosEtcdBackupSchedule>(talosEtcdBackupScheduleResource);
  const secrets = client.resource<Secret>(secretType);
  const statuses = createStatusWriter<Backup>(client, etcdBackupResource, clock, FIELD_MANAGER, events);

  const reconcile = async (key: ObjectKey): Promise<ReconcileResult | undefined> => {
    if (etcdBackups.store.get(key) === undefined) {
      statuses.forget(keyText(key));
      return undefined;
    }
    const backup = await objects.tryGet(key);
    const { spec } = backup ?? {};
    // What it made goes with it by its owner; what is stored stays unless that says otherwise.
    if (backup === undefined || spec === undefined || backup.metadata.deletionTimestamp !== undefined || isOfOthers(backup))
      return undefined;
    const mode = reconcileModeOf(backup.metadata);
    if (mode !== "reconcile") return { requeueAfterMs: await statuses.write(backup, pausedMemory(backup, [pausedCondition(mode)])) };
    const decision = decideEtcdBackup(await observe({ ...backup, spec }));
    const refusal = await act(decision.act);
    if (refusal?.kind === "again") return { requeueAfterMs: AGAIN_MS };
    if (refusal?.kind === "refused") events.tell(backup, "BackupCreationFailed", "BackupCreationFailed", refusal.why);
    const again = await tell(backup, decision);
    if (again === undefined) for (const { reason, note } of decision.news) events.tell(backup, reason, reason, note);
    return { requeueAfterMs: again ?? (refusal === undefined ? decision.requeueAfterMs : REFUSED_AGAIN_MS) };
  };

  const observe = async (backup: Backup & { readonly spec: EtcdBackupSpec }): Promise<EtcdBackupSeen> => {
    const key = { namespace: backup.metadata.namespace, name: backup.metadata.name };
    const [found, schedule] = await Promise.all([once.tryGet(key), scheduled.tryGet(key)]);
    const made = backups.store
      .list(key.namespace)
      .filter((one) => isStored(one.status) && schedule !== undefined && controllerOf(one.metadata)?.uid === schedule.metadata.uid);
    return {
      backup,
      problems: validateEtcdBackupSpec(backup.spec, limits),
      isTerminating: await namespaceTerminates(key.namespace, client),
      cluster: clusterOf(backup),
      store: await readStore(backup, secrets, limits.requireStoreLabel === true),
      once: found,
      schedule,
      newest: made.toSorted((a, b) => dueAt(b) - dueAt(a))[0],
      limits: { ...limits, namespace: key.namespace ?? "" },
    };
  };

  const clusterOf = ({ metadata, spec }: Backup & { readonly spec: EtcdBackupSpec }): EtcdBackupSeen["cluster"] => {
    const { namespace = "" } = metadata;
    const named = clusters.store.get({ namespace, name: spec.clusterName });
    const ofId = clusters.store.byIndex("id", `${namespace}/${spec.clusterName}`);
    const [cluster, twin] = named === undefined ? ofId : [named];
    if (twin !== undefined) return { kind: "absent", message: `More than one KubernetesCluster has the clusterId ${spec.clusterName}.` };
    if (cluster === undefined) return { kind: "absent", message: `KubernetesCluster ${spec.clusterName} not found.` };
    const [controlPlane] = controlPlanes.store.byIndex("controller", cluster.metadata.uid ?? "");
    return controlPlane === undefined
      ? { kind: "absent", message: `KubernetesCluster ${cluster.metadata.name} has no control plane yet.` }
      : { kind: "present", controlPlane: controlPlane.metadata.name };
  };

  const resourceOf = ({ kind }: Carrier): ResourceClient<KubeObject> =>
    client.resource(kind === "TalosEtcdBackup" ? talosEtcdBackupResource : talosEtcdBackupScheduleResource);

  /** @returns what came in the way */
  const act = async (
    wanted: EtcdBackupAct,
  ): Promise<{ readonly kind: "again" } | { readonly kind: "refused"; readonly why: string } | undefined> => {
    try {
      if (wanted.kind === "create") await resourceOf(wanted.object).create(wanted.object);
      if (wanted.kind === "delete") await deleteExactly(scheduled, wanted.object);
      if (wanted.kind === "patch") {
        const { uid, resourceVersion } = wanted.object.metadata;
        const value = { metadata: { uid, resourceVersion }, ...wanted.value };
        await resourceOf(wanted.object).patch(wanted.object.metadata, { type: "merge", value });
      }
      return undefined;
    } catch (thrown) {
      if (isConflict(thrown) || isAlreadyExists(thrown) || isNotFound(thrown)) return { kind: "again" };
      if (isRefusedWrite(thrown)) return { kind: "refused", why: thrown.message };
      throw thrown;
    }
  };

  const tell = async (backup: Backup, { fields, conditions, carrier }: EtcdBackupDecision): Promise<number | undefined> =>
    statuses.write(
      backup,
      judgedStatus(backup, fields, { conditions, hasOpenEffect: false, ...(carrier === undefined ? {} : { parts: [carrier] }) }),
    );

  const ofNamespace = ({ metadata }: { readonly metadata: ObjectMeta }): readonly ObjectKey[] =>
    etcdBackups.store.list(metadata.namespace).map((backup) => backup.metadata);
  const ofOwner = ({ metadata }: { readonly metadata: ObjectMeta }): readonly ObjectKey[] => {
    const owner = controllerOf(metadata);
    return owner?.kind === "EtcdBackup" && owner.apiVersion === apiVersionOf(etcdBackupResource)
      ? [{ namespace: metadata.namespace, name: owner.name }]
      : [];
  };
  return createController({
    name: "etcdbackup",
    ...commonOptions(options),
    backoff: { baseMs: 200, maxMs: 30_000 },
    reconcile,
    watches: [
      watchOf({ informer: etcdBackups, why: "the EtcdBackup is the work item", predicate: (delta) => !statuses.isOwn(delta as never) }),
      watchOf({ informer: backups, why: "an EtcdBackup says what its backup says", map: ofOwner, priority: "low" }),
      watchOf({ informer: schedules, why: "an EtcdBackup says what its schedule says", map: ofOwner, priority: "low" }),
      watchOf({
        informer: clusters,
        why: "an EtcdBackup waits for the cluster that it names",
        predicate: (delta) => delta.type !== "updated",
        map: ofNamespace,
        priority: "low",
      }),
      watchOf({
        informer: controlPlanes,
        why: "an EtcdBackup waits for the control plane of its cluster",
        predicate: (delta) => delta.type !== "updated",
        map: ofNamespace,
        priority: "low",
      }),
    ],
  });
}

/** Read live, and only the texts that say where the store is are taken out of it: credentials are named. */
async function readStore(
  { metadata, spec }: Backup & { readonly spec: EtcdBackupSpec },
  secrets: ResourceClient<Secret>,
  demandsLabel: boolean,
): Promise<EtcdBackupSeen["store"]> {
  const { secretRef, type } = spec.storageLocation;
  if (secretRef === undefined || secretRef === "") return { kind: "read", value: storageOfEtcdBackup(spec, {}) };
  const secret = await secrets.tryGet({ namespace: metadata.namespace, name: secretRef });
  if (secret === undefined) return { kind: "missing", message: `Secret ${secretRef} not found.` };
  // What it says of the store is copied into an object that more people read.
  if (demandsLabel && !mayBackupsUse(secret))
    return { kind: "missing", reason: "BackupStoreSecretUnlabelled", message: labelRefusal([secretRef]) };
  const texts = Object.fromEntries(Object.keys(secret.data ?? {}).map((name) => [name, secretText(secret, name) ?? ""]));
  const value = storageOfEtcdBackup(spec, texts);
  const { accessKeyID, secretAccessKey } = value.storage.s3 ?? {};
  if (type === "s3" && (accessKeyID === undefined || secretAccessKey === undefined))
    return {
      kind: "missing",
      message: `Secret ${secretRef} has no text under ${accessKeyID === undefined ? "accessKeyID or AWS_ACCESS_KEY_ID" : "secretAccessKey or AWS_SECRET_ACCESS_KEY"}.`,
    };
  return { kind: "read", value };
}
