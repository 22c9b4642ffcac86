import { controllerReference, labels, labelValueFor } from "@talos-operator/api";
import type { TalosEtcdBackup, TalosEtcdBackupSchedule } from "@talos-operator/api";
import { backupSpecOf } from "./decide.ts";

/** A TalosEtcdBackup that belongs to a schedule and is taken as its template says. */
export function backupMadeFrom(
  schedule: TalosEtcdBackupSchedule,
  name: string,
  marked: { readonly labels?: Readonly<Record<string, string>>; readonly annotations: Readonly<Record<string, string>> },
): TalosEtcdBackup {
  const { apiVersion, kind, metadata, spec } = schedule;
  const marks = spec.backupTemplate.metadata;
  return {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosEtcdBackup",
    metadata: {
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      name,
      labels: { ...marks?.labels, ...marked.labels, [labels.backupSchedule]: labelValueFor(metadata.name) },
      annotations: { ...marks?.annotations, ...marked.annotations },
      ownerReferences: [controllerReference({ apiVersion, kind, metadata })],
    },
    spec: backupSpecOf(schedule),
  };
}
