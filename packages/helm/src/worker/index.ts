export { runManifests } from "../manifests/run-manifests.ts";
export { runTask } from "./run-task.ts";
export type { HelmBinary, HelmCall, HelmEnd, Scratch, ScratchFile, WorkerDeps } from "./deps.ts";
export type { FetchedManifest, FetchLimits, FetchManifest, ManifestsDeps } from "../manifests/deps.ts";
