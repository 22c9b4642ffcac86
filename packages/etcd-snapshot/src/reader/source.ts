/** Bytes of a snapshot or a database that can be read at any place. A `Uint8Array` is one by {@link bytesSource}; a file by `@talos-operator/etcd-snapshot/files`. */
export interface SnapshotSource {
  /** Bytes; a trailer counts. */
  readonly size: number;
  /** What {@link read} gave stays as it is, whatever is read later. Default false: until the next read. */
  readonly isStable?: boolean;
  /** `length` bytes from `offset` on, fewer where the end comes first. */
  read(offset: number, length: number): Uint8Array;
}

/** Bytes in memory, which must not change meanwhile. */
export function bytesSource(bytes: Uint8Array): SnapshotSource {
  return { size: bytes.length, isStable: true, read: (offset, length) => bytes.subarray(offset, offset + length) };
}
