export { type GenuineApi, startGenuineApi } from "./genuine-api.ts";
export { tool } from "./genuine-tools.ts";
export { ownAddress } from "./own-network.ts";
export { HANGS_AFTER_MS, KUBECTL_WAITS, until } from "./until.ts";
