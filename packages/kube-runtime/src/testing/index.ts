/** Helpers for tests of programs that use the runtime. No semver promise. */
export { createVirtualTime } from "./virtual-time.ts";
export { createSeededRandom } from "./seeded-random.ts";
export { drainPromises } from "./adapters/drain.ts";

export type { VirtualTime } from "./virtual-time.ts";
