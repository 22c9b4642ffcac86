export { backupCodec } from "./codec/codec.ts";
export { createScratch } from "./scratch.ts";
