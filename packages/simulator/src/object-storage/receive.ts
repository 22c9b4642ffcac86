import { createHash } from "node:crypto";
import { demandChecksum, expectedChecksum, type ExpectedChecksum } from "./checksums.ts";
import { decodeChunks, UNSIGNED_CHUNKS } from "./chunked-body.ts";
import { S3Error } from "./s3-error.ts";
import type { S3Request } from "./s3-request.ts";

/** What a request says of its body; all of it must turn out true. */
export interface ExpectedBody {
  /** Bytes, without what wraps chunks. */
  readonly length: number;
  readonly isChunked: boolean;
  /** Lower-case hexadecimal. */
  readonly sha256?: string;
  /** Base64. */
  readonly md5?: string;
  readonly checksum?: ExpectedChecksum;
}

/**
 * @param sha256 what the signature says of the body
 * @throws S3Error `MissingContentLength`, `InvalidDigest`, `InvalidRequest`, `InvalidArgument`
 */
export function expectedBody({ headers }: S3Request, sha256: string | undefined): ExpectedBody {
  const isChunked = headers.get("x-amz-content-sha256") === UNSIGNED_CHUNKS;
  const [length, md5] = [headers.get(isChunked ? "x-amz-decoded-content-length" : "content-length"), headers.get("content-md5")];
  // A request without a body may leave the length out. One that does not know it in advance may not.
  if (length === undefined && (isChunked || headers.has("transfer-encoding"))) throw new S3Error("MissingContentLength");
  if (!/^\d{1,15}$/.test(length ?? "0")) throw new S3Error("InvalidArgument", "The length of the body is no number.");
  if (md5 !== undefined) {
    const bytes = Buffer.from(md5, "base64");
    if (bytes.length !== 16 || bytes.toString("base64") !== md5) throw new S3Error("InvalidDigest");
  }
  const checksum = expectedChecksum(headers, isChunked);
  return {
    length: Number(length ?? 0),
    isChunked,
    ...(sha256 === undefined ? {} : { sha256 }),
    ...(md5 === undefined ? {} : { md5 }),
    ...(checksum === undefined ? {} : { checksum }),
  };
}

/**
 * Passes a body on piece by piece and compares it with what its request said of it. What was passed on counts only once this has returned.
 *
 * @returns the MD5 of the body, in lower-case hexadecimal
 * @throws S3Error `IncompleteBody`, `XAmzContentSHA256Mismatch`, `BadDigest`, and those of a body in chunks
 */
export async function receive(
  source: AsyncIterable<Uint8Array>,
  expected: ExpectedBody,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<string> {
  const [md5, sha256] = [createHash("md5"), createHash("sha256")];
  const { checksum } = expected;
  let announced = checksum?.value;
  const onTrailer = (name: string, value: string): void => {
    if (name !== checksum?.name) throw new S3Error("MalformedTrailerError");
    demandChecksum(name, value);
    announced = value;
  };
  let size = 0;
  for await (const bytes of expected.isChunked ? decodeChunks(source, onTrailer) : source) {
    size += bytes.length;
    if (size > expected.length) break;
    checksum?.running.update(bytes);
    md5.update(bytes);
    sha256.update(bytes);
    await write(bytes);
  }
  if (size !== expected.length) throw new S3Error("IncompleteBody");
  if (expected.sha256 !== undefined && sha256.digest("hex") !== expected.sha256) throw new S3Error("XAmzContentSHA256Mismatch");
  const digest = md5.digest();
  if (expected.md5 !== undefined && digest.toString("base64") !== expected.md5) throw new S3Error("BadDigest");
  if (checksum !== undefined && Buffer.from(await checksum.running.digest()).toString("base64") !== announced)
    throw new S3Error("BadDigest", `The ${checksum.name} that you specified did not match what the server received.`);
  return digest.toString("hex");
}
