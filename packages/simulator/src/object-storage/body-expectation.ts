import { checksumAlgorithms, checksumHeader, demandChecksum, readAlgorithm, type ChecksumAlgorithm } from "./checksums.ts";
import { S3Error } from "./s3-error.ts";
import type { S3Request } from "./s3-request.ts";
import type { ChunkSigner, SignedBody } from "./signature.ts";

/** What a request says of its body; all of it must turn out true. */
export interface BodyExpectation {
  /** Bytes of the body itself, without what wraps its chunks. */
  readonly length: number;
  readonly chunks?: { readonly signer?: ChunkSigner; readonly hasTrailer: boolean };
  /** Lower-case hexadecimal. */
  readonly sha256?: string;
  /** Base64. */
  readonly md5?: string;
  /** Without `value` it follows the body. */
  readonly checksum?: { readonly algorithm: ChecksumAlgorithm; readonly value?: string };
}

const CHECKSUM_PREFIX = "x-amz-checksum-";

/**
 * @param checksumIsOfBody false where `x-amz-checksum-…` speaks of an object and not of the request's body
 * @throws S3Error `MissingContentLength`, `InvalidDigest`, `InvalidRequest`, `InvalidArgument`, `NotImplemented`
 */
export function expectedBody({ headers }: S3Request, signed: SignedBody, checksumIsOfBody = true): BodyExpectation {
  const isChunked = signed.kind === "chunks";
  if (!isChunked && /\baws-chunked\b/.test(headers.get("content-encoding") ?? ""))
    throw new S3Error("InvalidRequest", "A body in chunks needs a STREAMING- value in x-amz-content-sha256.");
  const checksum = checksumIsOfBody ? readChecksum(headers) : undefined;
  if (isChunked && signed.hasTrailer && checksum?.value !== undefined)
    throw new S3Error("InvalidRequest", "A checksum is given in a header and announced behind the body.");
  if (!(isChunked && signed.hasTrailer) && checksum !== undefined && checksum.value === undefined)
    throw new S3Error("InvalidRequest", "x-amz-trailer announces a checksum that this kind of body cannot carry.");
  return {
    length: readLength(headers, isChunked),
    ...(isChunked ? { chunks: signed } : {}),
    ...(signed.kind === "hashed" ? { sha256: signed.sha256 } : {}),
    ...readMd5(headers.get("content-md5")),
    ...(checksum === undefined ? {} : { checksum }),
  };
}

/** The checksum that headers give of something; `undefined` without one. */
export function givenChecksum(
  headers: ReadonlyMap<string, string>,
): { readonly algorithm: ChecksumAlgorithm; readonly value: string } | undefined {
  const given = checksumAlgorithms.flatMap((algorithm) => {
    const value = headers.get(checksumHeader(algorithm));
    return value === undefined ? [] : [{ algorithm, value }];
  });
  if (given.length > 1)
    throw new S3Error("InvalidRequest", "Expecting a single x-amz-checksum- header. Multiple checksum types are not allowed.");
  return given[0];
}

function readLength(headers: ReadonlyMap<string, string>, isChunked: boolean): number {
  const length = headers.get(isChunked ? "x-amz-decoded-content-length" : "content-length");
  // A request without a body may leave it out; one that comes without its length in advance may not.
  if (length === undefined && (isChunked || headers.has("transfer-encoding"))) throw new S3Error("MissingContentLength");
  if (!/^\d{1,15}$/.test(length ?? "0")) throw new S3Error("InvalidArgument", "The length of the body is no number.");
  return Number(length ?? 0);
}

function readMd5(header: string | undefined): { readonly md5?: string } {
  if (header === undefined) return {};
  const bytes = Buffer.from(header, "base64");
  if (bytes.length !== 16 || bytes.toString("base64") !== header) throw new S3Error("InvalidDigest");
  return { md5: header };
}

function readChecksum(headers: ReadonlyMap<string, string>): BodyExpectation["checksum"] {
  const given = givenChecksum(headers);
  if (given !== undefined) demandChecksum(given.algorithm, given.value);
  const trailer = headers.get("x-amz-trailer")?.trim().toLowerCase();
  if (trailer !== undefined && !trailer.startsWith(CHECKSUM_PREFIX))
    throw new S3Error("InvalidRequest", "The value specified in the x-amz-trailer header is not supported");
  const announced = trailer === undefined ? undefined : { algorithm: readAlgorithm(trailer.slice(CHECKSUM_PREFIX.length)) };
  if (given !== undefined && announced !== undefined)
    throw new S3Error("InvalidRequest", "Expecting a single x-amz-checksum- header. Multiple checksum types are not allowed.");
  const found = given ?? announced;
  const named = headers.get("x-amz-sdk-checksum-algorithm");
  if (named !== undefined && readAlgorithm(named) !== found?.algorithm)
    throw new S3Error(
      "InvalidRequest",
      "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.",
    );
  return found;
}
