// Little-endian numbers of bbolt and big-endian numbers of etcd, out of plain bytes. Callers have checked the bounds; beyond them a byte counts as 0.

export function u16(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
}

export function u32(bytes: Uint8Array, at: number): number {
  return (u16(bytes, at) | (u16(bytes, at + 2) << 16)) >>> 0;
}

/** Infinity for what a number cannot hold exactly: no page, length or revision is that large. */
export function u64(bytes: Uint8Array, at: number): number {
  const high = u32(bytes, at + 4);
  return high > 0x1f_ffff ? Infinity : high * 0x1_0000_0000 + u32(bytes, at);
}

export function u32BigEndian(bytes: Uint8Array, at: number): number {
  return (((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)) >>> 0;
}

/** Infinity as in {@link u64}. */
export function u64BigEndian(bytes: Uint8Array, at: number): number {
  const high = u32BigEndian(bytes, at);
  return high > 0x1f_ffff ? Infinity : high * 0x1_0000_0000 + u32BigEndian(bytes, at + 4);
}

export function putU16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
}

export function putU32(bytes: Uint8Array, at: number, value: number): void {
  putU16(bytes, at, value);
  putU16(bytes, at + 2, value >>> 16);
}

export function putU64(bytes: Uint8Array, at: number, value: number): void {
  putU32(bytes, at, value % 0x1_0000_0000);
  putU32(bytes, at + 4, Math.floor(value / 0x1_0000_0000));
}

export function compareBytes(left: Uint8Array, right: Uint8Array): number {
  return Buffer.compare(left, right);
}
