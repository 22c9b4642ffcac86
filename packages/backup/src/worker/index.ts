export { runTask } from "./run-task.ts";
export type { RunOptions } from "./run-task.ts";
export { CodecFailure, DrillFailure } from "./deps.ts";
export type { BackupCodec, RestoredStore, RestoreDrill, Scratch, ScratchFile, TaskProgress, WorkerDeps } from "./deps.ts";
