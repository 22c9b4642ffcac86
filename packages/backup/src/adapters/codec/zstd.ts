import { pipeline, type Transform } from "node:stream";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";

import { CodecFailure } from "../../worker/deps.ts";
import { watched } from "./watched.ts";

const CHUNK_BYTES = 128 * 1024;
/** Windows above 128 MiB are refused, as `zstd` does: nothing of ours has more than 2 MiB. */
const WINDOW_LOG_MAX = 27;

/** Level 3 with a checksum at its end: 2 MiB of window, some 4 MiB of memory, one thread. */
export function compressZstd(plain: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const { ZSTD_c_compressionLevel, ZSTD_c_checksumFlag } = constants;
  return through(
    plain,
    () => createZstdCompress({ chunkSize: CHUNK_BYTES, params: { [ZSTD_c_compressionLevel]: 3, [ZSTD_c_checksumFlag]: 1 } }),
    "compressed",
  );
}

/**
 * Of bytes that make no sense, or end in the middle of the content, it throws CodecFailure `damaged`. Node 24 does not always look at the checksum in the last four
 * bytes, so whoever reads compares the SHA-256 of what is stored, or the snapshot's own.
 */
export function decompressZstd(compressed: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const params = { [constants.ZSTD_d_windowLogMax]: WINDOW_LOG_MAX };
  return through(compressed, () => createZstdDecompress({ chunkSize: CHUNK_BYTES, params }), "decompressed");
}

async function* through(
  source: AsyncIterable<Uint8Array>,
  make: () => Transform,
  what: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { chunks, failure } = watched(source);
  const transform = make();
  // The failure of either side comes out of the loop; the callback takes what nobody else would.
  const ended = pipeline(chunks, transform, () => undefined);
  try {
    for await (const chunk of ended) yield chunk as Uint8Array;
  } catch (error) {
    const first = failure();
    if (first !== undefined) throw first.error;
    throw new CodecFailure("damaged", `the bytes cannot be ${what} by zstd (${codeOf(error)})`, { cause: error });
  } finally {
    transform.destroy();
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "no code";
}
