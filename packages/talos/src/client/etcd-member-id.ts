/** A member id as etcd prints it: 16 lower-case hex digits, the same form as in the resource `EtcdMembers`. */
export type EtcdMemberId = string;

/** 16 lower-case hex digits. */
export function printMemberId(id: bigint): EtcdMemberId {
  return id.toString(16).padStart(16, "0");
}

/** @throws RangeError unless `id` is 1 to 16 hex digits */
export function parseMemberId(id: EtcdMemberId): bigint {
  if (!/^[0-9a-f]{1,16}$/i.test(id)) throw new RangeError(`etcd member id ${JSON.stringify(id)} is not 1 to 16 hex digits`);
  return BigInt(`0x${id}`);
}
