import { randomBytes } from "node:crypto";
import type { RandomSource } from "@talos-operator/ports";

/** The operating system's random source. */
export const systemRandom: RandomSource = {
  bytes: (length) => new Uint8Array(randomBytes(length)),
  fraction: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
};
