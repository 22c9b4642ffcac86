import { finalizers, isConditionTrue } from "@talos-operator/api";
import type { TalosEtcdBackup, TalosEtcdBackupStatus } from "@talos-operator/api";

/** Another operator of these kinds finished it: no status of ours names a slot. It is neither repeated nor removed. */
export function isOfOthers(status: TalosEtcdBackupStatus | undefined): boolean {
  const isFinished =
    (status?.filename ?? "") !== "" || isConditionTrue(status?.conditions, "Ready") || isConditionTrue(status?.conditions, "Failed");
  return status?.slot === undefined && isFinished;
}

/** Its manifest was read back. */
export function isStored(status: TalosEtcdBackupStatus | undefined): boolean {
  return status?.slot !== undefined && status.filename !== undefined;
}

/** It ended without success. */
export function hasFailed(status: TalosEtcdBackupStatus | undefined): boolean {
  return status?.slot !== undefined && !isStored(status) && status.run === undefined && isConditionTrue(status.conditions, "Failed");
}

export function hasOurFinalizer({ metadata }: TalosEtcdBackup): boolean {
  return metadata.finalizers?.includes(finalizers.talosEtcdBackup) === true;
}
