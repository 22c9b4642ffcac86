/** What is known of one stored backup: the content of its manifest, and what status shows. No secret. */
export interface BackupFacts {
  readonly slot: string;
  readonly attempt: string;
  /** Key of the stored snapshot below the store's root. */
  readonly object: string;
  /** Key of the encrypted keys of the cluster; absent without recipients. */
  readonly keysObject?: string;
  /** When the first byte was asked for, and when the data object was complete. ISO 8601, UTC. */
  readonly startedAt: string;
  readonly endedAt: string;
  /** Bytes of the plain snapshot, its trailer included. */
  readonly size: number;
  /** SHA-256 of the plain snapshot without its trailer, hex: the trailer itself. */
  readonly sha256: string;
  /** Bytes of the stored object, and their SHA-256, hex. */
  readonly storedSize: number;
  readonly storedSha256: string;
  readonly compression: "zstd";
  readonly encryption: "none" | "age";
  /** etcd's revision. */
  readonly revision: number;
  /** As `etcdutl snapshot status` counts: every stored revision and every other entry. */
  readonly totalKey: number;
  /** Keys that exist at `revision`. */
  readonly liveKeys: number;
  /** etcd's storage version, `3.6.0`; absent where the snapshot names none (before 3.6). */
  readonly storageVersion?: string;
  readonly talosVersion?: string;
  readonly kubernetesVersion?: string;
  readonly source: { readonly machine: string; readonly memberId: string };
}
