/** Where backups are kept, without any secret. */
export type StorePlace = S3Place | DirectoryPlace;

export interface S3Place {
  readonly kind: "s3";
  readonly bucket: string;
  readonly region: string;
  /** URL of a store that is not AWS; turns on path style unless `pathStyle` says otherwise. */
  readonly endpoint?: string;
  readonly pathStyle?: boolean;
  /** Begins every key, without a slash at its ends. */
  readonly prefix: string;
  /** PEM of the CAs that are trusted beside those of the system. */
  readonly caBundle?: string;
  /** No check of the server's certificate. Only where the operator allows it as a whole (O11). */
  readonly insecureSkipTLSVerify?: boolean;
  /** `http://` endpoints, where the operator allows them as a whole. */
  readonly allowPlainText?: boolean;
}

export interface DirectoryPlace {
  readonly kind: "directory";
  /** Folder below the operator's `--backup-directory`, relative, without `.` and `..`; empty = that folder itself. */
  readonly path: string;
  /** Begins every key, without a slash at its ends. */
  readonly prefix: string;
}

/** Static keys of a store. Absent: the workload identity of the process (IRSA, pod identity, instance role). */
export interface StoreKeys {
  readonly accessKeyID: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}
