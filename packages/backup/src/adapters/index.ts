export { backupCodec } from "./codec/codec.ts";
export { createEtcdDrill } from "./drill/etcd-drill.ts";
export type { EtcdDrillOptions } from "./drill/etcd-drill.ts";
export { createScratch } from "./scratch.ts";
export { createDirectoryStore } from "./directory/directory-store.ts";
