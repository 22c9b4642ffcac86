import type { BackupFacts } from "@talos-operator/backup";
import type { SnapshotContents } from "@talos-operator/etcd-snapshot";

/** What was found, as `-o json` prints it. */
export interface Inspection extends SnapshotContents {
  /** As the person named it. */
  readonly file: string;
  /** Bytes of the plain snapshot. */
  readonly size: number;
  /** SHA-256 of the database, hex. */
  readonly sha256: string;
  /** The bytes are those that etcd sent. `false`: a copy of a member's database, which ends without a SHA-256, and cannot be checked. */
  readonly hasTrailer: boolean;
  /** Absent for a plain file. */
  readonly stored?: StoredFacts;
}

/** How a backup is stored, and what its manifest says. */
export interface StoredFacts {
  readonly place: string;
  readonly object: string;
  /** Bytes, and their SHA-256. */
  readonly size: number;
  readonly sha256: string;
  /** What the snapshot is wrapped in, from the outside. */
  readonly layers: readonly ("age" | "zstd")[];
  readonly writtenBy: "us" | "published" | "unknown";
  /** `checked`: the manifest was written with the cluster's own keys; `none`: there is no manifest. */
  readonly signature: "checked" | "unchecked" | "none";
  /** Why the signature is not checked. */
  readonly uncheckedBecause?: string;
  /** Whether the encrypted keys of the cluster are stored with it. */
  readonly hasKeys: boolean;
  /** The manifest. */
  readonly facts?: BackupFacts;
}
