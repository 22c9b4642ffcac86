import { createHash } from "node:crypto";
import type { RandomSource } from "@talos-operator/ports";

/** Randomness that repeats: the n-th draw of a seed is always the same. */
export function createSeededRandom(seed: string): RandomSource {
  let count = 0;
  const bytes = (length: number): Uint8Array => {
    const parts: Buffer[] = [];
    for (let have = 0; have < length; have += 32) {
      count += 1;
      parts.push(createHash("sha256").update(`${seed}/${count}`).digest());
    }
    return Uint8Array.from(Buffer.concat(parts).subarray(0, length));
  };
  return { bytes, fraction: () => Buffer.from(bytes(4)).readUInt32BE(0) / 2 ** 32 };
}
