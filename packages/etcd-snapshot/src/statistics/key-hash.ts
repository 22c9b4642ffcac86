/** The last hash: 64 bits in two halves, never both 0. Kept here instead of returned, as it is made for every revision of a database. */
export const keyHash = { low: 0, high: 0 };

/**
 * A hash of 64 bits over a part of `bytes`, into {@link keyHash}: two lanes of the murmur3 kind with constants of their own.
 *
 * Two of two million keys share one with a chance of one in ten million. It is no defence against keys made to collide; those would miscount their own cluster.
 */
export function hashKey(bytes: Uint8Array, from: number, to: number): void {
  let low = 0x9747b28c ^ (to - from);
  let high = 0x3c6ef372 ^ (to - from);
  let at = from;
  for (; at + 4 <= to; at += 4) {
    const word = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
    low = mix(low, word, 0xcc9e2d51, 0x1b873593, 15, 13);
    high = mix(high, word, 0x239b961b, 0xab0e9789, 17, 19);
  }
  let word = 0;
  for (let shift = 0; at < to; at += 1, shift += 8) word |= (bytes[at] ?? 0) << shift;
  low = finish(mix(low, word, 0xcc9e2d51, 0x1b873593, 15, 13));
  high = finish(mix(high, word, 0x239b961b, 0xab0e9789, 17, 19) ^ low);
  keyHash.low = low === 0 && high === 0 ? 1 : low;
  keyHash.high = high;
}

function mix(hash: number, word: number, first: number, second: number, rotateWord: number, rotateHash: number): number {
  const scrambled = Math.imul(word, first);
  const rotated = hash ^ Math.imul((scrambled << rotateWord) | (scrambled >>> (32 - rotateWord)), second);
  return (Math.imul((rotated << rotateHash) | (rotated >>> (32 - rotateHash)), 5) + 0xe6546b64) | 0;
}

function finish(hash: number): number {
  let value = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
