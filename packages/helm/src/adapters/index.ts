export { createManifestFetcher } from "./fetch-manifest.ts";
export { createHelmBinary } from "./helm-binary.ts";
export { createScratch } from "./scratch.ts";
