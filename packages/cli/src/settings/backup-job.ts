import { isText, jobReader, type JobSettings } from "./job-settings.ts";

/** What the Jobs of backups are made of. Their scratch has room for one snapshot and its restore; the image has etcd and etcdutl. */
export interface BackupJobSettings extends JobSettings {
  /** Absent: an emptyDir. */
  readonly scratchStorageClass?: string;
  /** PersistentVolumeClaim that is mounted at `--backup-directory`. */
  readonly directoryClaim?: string;
}

export const readBackupJob = jobReader<BackupJobSettings>({ scratchStorageClass: isText, directoryClaim: isText });
