export { createHelmBinary } from "./helm-binary.ts";
export { createScratch } from "./scratch.ts";
