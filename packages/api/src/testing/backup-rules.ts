import assert from "node:assert/strict";
import type { KubeTransport } from "@talos-operator/ports";
import { talosEtcdBackupResource } from "../kinds/talos-etcd-backup.ts";

const path = `/apis/${talosEtcdBackupResource.group}/${talosEtcdBackupResource.version}/namespaces/default/${talosEtcdBackupResource.plural}`;

type Spec = Readonly<Record<string, unknown>>;

const talosControlPlaneRef = { name: "demo" };
const s3 = { bucket: "backups", region: "eu-1" };
const accessKeyID = { name: "s3", key: "id" };
const spec: Spec = { talosControlPlaneRef, backupStorage: { s3 } };

/** A TalosEtcdBackup is created. */
export interface BackupRuleCase {
  readonly name: string;
  readonly spec: Spec;
  /** What the refusal says; absent when it is taken. */
  readonly refused?: RegExp;
}

/** Each rule of the TalosEtcdBackup that is this operator's own, kept and broken. */
export const backupRuleCases: readonly BackupRuleCase[] = [
  { name: "takes a bucket without keys", spec },
  { name: "takes a folder", spec: { talosControlPlaneRef, storageType: "Directory", backupStorage: { directory: {} } } },
  { name: "takes a TalosCluster in place of its control plane", spec: { clusterRef: { name: "demo" }, backupStorage: { s3 } } },
  { name: "refuses two stores", spec: { ...spec, backupStorage: { s3, directory: {} } }, refused: /give exactly one store/ },
  { name: "refuses no store", spec: { ...spec, backupStorage: {} }, refused: /give exactly one store/ },
  { name: "refuses one of two keys", spec: { ...spec, backupStorage: { s3: { ...s3, accessKeyID } } }, refused: /belong together/ },
  { name: "refuses two references", spec: { ...spec, clusterRef: { name: "demo" } }, refused: /either talosControlPlaneRef or clusterRef/ },
  { name: "refuses no reference", spec: { backupStorage: { s3 } }, refused: /either talosControlPlaneRef or clusterRef/ },
  { name: "refuses another store than storageType says", spec: { ...spec, storageType: "Directory" }, refused: /names another store/ },
  { name: "refuses a store that is not built", spec: { ...spec, storageType: "GCS" }, refused: /Unsupported value: "GCS"/ },
  { name: "refuses keeping for ever and for a time", spec: { ...spec, retention: { keep: true, keepFor: "1d" } }, refused: /contradict/ },
  { name: "takes keeping for a time", spec: { ...spec, retention: { keepFor: "30d" } } },
  { name: "refuses a time that is none", spec: { ...spec, timeout: "soon" }, refused: /timeout/ },
  { name: "refuses a size that is none", spec: { ...spec, maxSize: "much" }, refused: /maxSize/ },
];

/** Runs one case against a Kubernetes API with the CRD installed, as a dry run, and asserts its outcome. */
export async function assertBackupRule(transport: KubeTransport, { spec: given, refused }: BackupRuleCase): Promise<void> {
  const body = { apiVersion: "talos.alperen.cloud/v1alpha1", kind: "TalosEtcdBackup", metadata: { name: "rules" }, spec: given };
  const { status, body: answer } = await transport.send({
    method: "POST",
    path,
    query: { fieldValidation: "Strict", dryRun: "All" },
    body,
  });
  assert.equal(status, refused === undefined ? 201 : 422, JSON.stringify(answer));
  if (refused !== undefined) assert.match((answer as { message: string }).message, refused);
}
