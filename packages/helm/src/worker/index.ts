export { runTask } from "./run-task.ts";
export type { HelmBinary, HelmCall, HelmEnd, Scratch, ScratchFile, WorkerDeps } from "./deps.ts";
