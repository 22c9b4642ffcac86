import { readFileSync } from "node:fs";
import { zstdDecompressSync } from "node:zlib";

/** A snapshot from `testdata/`, unpacked. */
export function fixture(name: string): Uint8Array {
  return zstdDecompressSync(readFileSync(new URL(`../../testdata/${name}.zst`, import.meta.url)));
}
