import type { RandomSource } from "@talos-operator/ports";

/**
 * A RandomSource that repeats itself for the same seed (32-bit mixing after splitmix). For tests and simulation, never for secrets.
 */
export function createSeededRandom(seed: number): RandomSource {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return (mixed ^ (mixed >>> 16)) >>> 0;
  };
  return {
    bytes: (length) => Uint8Array.from({ length }, () => next() & 0xff),
    fraction: () => next() / 0x1_0000_0000,
  };
}
