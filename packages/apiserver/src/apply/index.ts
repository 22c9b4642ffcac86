export { withoutManagedFields } from "./ownership.ts";
export { serverSideApply } from "./server-side-apply.ts";
export type { ApplyOutcome } from "./server-side-apply.ts";
export { trackUpdate } from "./track-update.ts";
