export type { DirectoryPlace, S3Place, StoreKeys, StorePlace } from "./task/place.ts";
export type { BackupOwner, BackupTask, KnownBackup, ProveTask, RemoveTask, SnapshotSource, TakeTask, TaskSecrets } from "./task/task.ts";
export type { Proof, ProveResult, RemoveResult, TakeResult, TaskFailed, TaskFailureReason, TaskResult } from "./task/result.ts";
export type { BackupFacts } from "./manifest/facts.ts";

export { BackupKeyError, backupKeys, slotPart } from "./layout/keys.ts";
export type { BackupKeys, BackupObject } from "./layout/keys.ts";
export { manifestKeyOf } from "./manifest/manifest-key.ts";
export type { ManifestKeySource } from "./manifest/manifest-key.ts";
export { openManifest, readManifestUnchecked, sealManifest } from "./manifest/manifest.ts";
export type { OpenedManifest } from "./manifest/manifest.ts";
