/** Source of randomness: cryptographic in production, seeded in simulation. */
export interface RandomSource {
  /** `length` random bytes. */
  bytes(length: number): Uint8Array;
  /** Uniform in [0, 1). For jitter, never for secrets. */
  fraction(): number;
}
