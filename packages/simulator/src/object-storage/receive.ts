import { createHash } from "node:crypto";
import type { BodyExpectation } from "./body-expectation.ts";
import { checksumHeader, createChecksum, demandChecksum, type ChecksumAlgorithm } from "./checksums.ts";
import { decodeChunks } from "./chunked-body.ts";
import { S3Error } from "./s3-error.ts";

/** A body that came whole and is what its request said. */
export interface Received {
  readonly size: number;
  /** Lower-case hexadecimal. */
  readonly md5: string;
  /** Base64, by the algorithm that was asked for. */
  readonly checksum?: string;
}

/**
 * Passes a body on piece by piece and holds it to what its request said of it. What was passed on counts only once this has returned.
 *
 * @param keep a checksum that is wanted whether or not the request gives one
 * @throws S3Error `IncompleteBody`, `XAmzContentSHA256Mismatch`, `BadDigest`, and those of chunks
 */
export async function receive(
  source: AsyncIterable<Uint8Array>,
  expected: BodyExpectation,
  write: (bytes: Uint8Array) => Promise<void>,
  keep: ChecksumAlgorithm | undefined = expected.checksum?.algorithm,
): Promise<Received> {
  const md5 = createHash("md5");
  const sha256 = expected.sha256 === undefined ? undefined : createHash("sha256");
  const algorithm = expected.checksum?.algorithm ?? keep;
  const checksum = algorithm === undefined ? undefined : createChecksum(algorithm);
  let size = 0;
  const pieces = piecesOf(source, expected);
  let next = await pieces.next();
  for (; next.done !== true; next = await pieces.next()) {
    const bytes = next.value;
    size += bytes.length;
    md5.update(bytes);
    sha256?.update(bytes);
    checksum?.update(bytes);
    await write(bytes);
  }
  if (size !== expected.length) throw new S3Error("IncompleteBody");
  const [digest, found] = [md5.digest(), await checksum?.digest()];
  if (sha256 !== undefined && sha256.digest("hex") !== expected.sha256) throw new S3Error("XAmzContentSHA256Mismatch");
  if (expected.md5 !== undefined && digest.toString("base64") !== expected.md5) throw new S3Error("BadDigest");
  demandSame(expected, next.value, found);
  return { size, md5: digest.toString("hex"), ...(found === undefined ? {} : { checksum: found }) };
}

async function* piecesOf(
  source: AsyncIterable<Uint8Array>,
  { chunks, length }: BodyExpectation,
): AsyncGenerator<Uint8Array, ReadonlyMap<string, string>> {
  if (chunks !== undefined) return yield* decodeChunks(source, { ...chunks, length });
  yield* source;
  return new Map();
}

function demandSame({ checksum }: BodyExpectation, trailers: ReadonlyMap<string, string>, found: string | undefined): void {
  const announced = checksum === undefined ? undefined : checksumHeader(checksum.algorithm);
  for (const name of trailers.keys())
    if (name !== announced || checksum?.value !== undefined)
      throw new S3Error("InvalidRequest", "A line follows the body that nobody announced.");
  if (checksum === undefined || announced === undefined) return;
  const value = checksum.value ?? trailers.get(announced);
  if (value === undefined) throw new S3Error("InvalidRequest", `The request announces ${announced} behind its body, and it is not there.`);
  demandChecksum(checksum.algorithm, value);
  if (value !== found) throw new S3Error("BadDigest", `The ${checksum.algorithm} you specified did not match the calculated checksum.`);
}
