import { annotations } from "@talos-operator/api";
import type { TalosCluster, TalosEtcdBackup, TalosEtcdBackupSchedule } from "@talos-operator/api";
import type { Informer } from "@talos-operator/kube-runtime";
import { clusterOf } from "../controllers/shared/mode.ts";
import type { ClustersByKey } from "../controllers/shared/mode.ts";
import { controlPlaneNamed } from "../controllers/talosetcdbackup/cluster-name.ts";
import { dueAt } from "../controllers/talosetcdbackup/slot.ts";
import { controlPlaneIntent } from "../record/facts.ts";
import type { Observed, SeenMachine, SeenSnapshots } from "../model/observation.ts";

/** The caches of backups. */
export interface SnapshotCaches {
  readonly schedules: Informer<TalosEtcdBackupSchedule>;
  readonly backups: Informer<TalosEtcdBackup>;
}

/** Adds what is asked for before control planes are disturbed, and what there is. Backups are looked for only where one leaves or is upgraded, or where data differ: at rest it costs nothing. */
export function withSnapshots(
  seen: Observed,
  tried: TalosCluster | undefined,
  caches: SnapshotCaches | undefined,
  talosClusters: ClustersByKey,
): Observed {
  const { metadata } = seen.controlPlane;
  const word =
    metadata.annotations?.[annotations.snapshotBeforeRisk] ??
    (tried ?? clusterOf(metadata, talosClusters))?.metadata.annotations?.[annotations.snapshotBeforeRisk];
  const isAsked = caches !== undefined && (seen.former.some(isControlPlane) || seen.machines.some(isUpgraded) || isToldCorrupt(seen));
  const { namespace } = metadata;
  const snapshots = isAsked
    ? snapshotsOf(metadata.name, caches.schedules.store.list(namespace), caches.backups.store.list(namespace), talosClusters)
    : undefined;
  return { ...seen, ...(word === undefined ? {} : { riskWord: word }), ...(snapshots === undefined ? {} : { snapshots }) };
}

function isControlPlane({ declared }: SeenMachine): boolean {
  return declared.role === "controlplane";
}

/** A control plane that runs is to get another Talos. */
export function isUpgraded(machine: SeenMachine): boolean {
  return isControlPlane(machine) && machine.look.kind === "running" && machine.look.version !== machine.declared.version;
}

/** A member tells that data differ, or one is being replaced for that. */
function isToldCorrupt({ machines, record }: Observed): boolean {
  if (record.kind === "present" && controlPlaneIntent(record.value.facts)?.what === "ReplaceMember") return true;
  return machines.some(({ look }) => look.kind === "running" && look.etcd?.raised?.some(({ kind }) => kind === "corrupt") === true);
}

/** Those of one cluster out of all of its namespace. */
export function snapshotsOf(
  controlPlane: string,
  schedules: readonly TalosEtcdBackupSchedule[],
  backups: readonly TalosEtcdBackup[],
  talosClusters: ClustersByKey,
): SeenSnapshots {
  return {
    schedules: schedules
      .filter(({ metadata, spec }) => controlPlaneNamed({ metadata, spec: spec.backupTemplate.spec }, talosClusters) === controlPlane)
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
    backups: backups
      .filter((backup) => controlPlaneNamed(backup, talosClusters) === controlPlane)
      .toSorted((a, b) => dueAt(b) - dueAt(a) || (a.metadata.name < b.metadata.name ? 1 : -1)),
  };
}
