export type * from "./task/task.ts";
export type * from "./task/result.ts";
export type * from "./task/manifests.ts";
export { isManifestsTask } from "./task/manifests.ts";
