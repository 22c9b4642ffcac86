import type { BackupCodec } from "../../worker/deps.ts";
import { decryptAge, encryptAge } from "./age.ts";
import { compressZstd, decompressZstd } from "./zstd.ts";

/** zstd of Node, and age: docs/adr/0043. */
export const backupCodec: BackupCodec = { compress: compressZstd, decompress: decompressZstd, encrypt: encryptAge, decrypt: decryptAge };
