export { simulatedCodec } from "./simulated-codec.ts";
export { memoryScratch } from "./memory-scratch.ts";
export { createTestIdentity, storeBackup } from "./stored-backup.ts";
export type { StoredBackupOptions } from "./stored-backup.ts";
