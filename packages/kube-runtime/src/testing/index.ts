/** Helpers for tests of programs that use the runtime. No semver promise. */
export { createVirtualTime } from "./virtual-time.ts";
export { createSeededRandom } from "./seeded-random.ts";
export { createScriptedTransport } from "./scripted-transport.ts";
export { createFakeApi, statusObject } from "./fake-api.ts";
export { createMemoryLog } from "./memory-log.ts";
export { drainPromises } from "./adapters/drain.ts";

export type { FakeApi } from "./fake-api.ts";
export type { LogLine } from "./memory-log.ts";
export type { ScriptedAnswer, ScriptedTransport } from "./scripted-transport.ts";
export type { VirtualTime } from "./virtual-time.ts";
