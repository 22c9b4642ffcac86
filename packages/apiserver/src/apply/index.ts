export { serverSideApply, type ApplyInput, type ApplyOutcome } from "./server-side-apply.ts";
export { trackUpdate } from "./track-update.ts";
export type { OwnershipContext } from "./ownership.ts";
