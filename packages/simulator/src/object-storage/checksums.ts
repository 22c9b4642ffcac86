import { createHash } from "node:crypto";
import { Crc32, Crc32c, Crc64Nvme } from "@aws-sdk/checksums/crc";
import { S3Error } from "./s3-error.ts";

/** Counts bytes as they come. */
interface RunningChecksum {
  update(bytes: Uint8Array): unknown;
  digest(): Uint8Array | Promise<Uint8Array>;
}

/** By the name of its header or trailer: how many bytes a checksum has, and what counts it. */
const CHECKSUMS: ReadonlyMap<string, { readonly length: number; readonly create: () => RunningChecksum }> = new Map([
  ["x-amz-checksum-crc32", { length: 4, create: () => new Crc32() }],
  ["x-amz-checksum-crc32c", { length: 4, create: () => new Crc32c() }],
  ["x-amz-checksum-crc64nvme", { length: 8, create: () => new Crc64Nvme() }],
  ["x-amz-checksum-sha1", { length: 20, create: () => createHash("sha1") }],
  ["x-amz-checksum-sha256", { length: 32, create: () => createHash("sha256") }],
]);

/** The checksum that a request gives of its body. */
export interface ExpectedChecksum {
  readonly running: RunningChecksum;
  /** Of the header or trailer. */
  readonly name: string;
  /** Base64; `undefined` = it follows the body. */
  readonly value: string | undefined;
}

/**
 * @param hasTrailer whether lines follow the body
 * @throws S3Error `InvalidRequest`
 */
export function expectedChecksum(headers: ReadonlyMap<string, string>, hasTrailer: boolean): ExpectedChecksum | undefined {
  const trailer = headers.get("x-amz-trailer")?.toLowerCase();
  if (hasTrailer !== (trailer !== undefined)) throw new S3Error("InvalidRequest", "x-amz-trailer and a body with a trailer go together.");
  const names = [...[...CHECKSUMS.keys()].filter((name) => headers.has(name)), ...(trailer === undefined ? [] : [trailer])];
  if (names.length > 1) throw new S3Error("InvalidRequest", "Expecting a single x-amz-checksum- header or trailer.");
  const [name] = names;
  const algorithm = headers.get("x-amz-sdk-checksum-algorithm");
  if (algorithm !== undefined && name !== `x-amz-checksum-${algorithm.toLowerCase()}`)
    throw new S3Error("InvalidRequest", "x-amz-sdk-checksum-algorithm specified, but no corresponding header or trailer was found.");
  if (name === undefined) return undefined;
  const known = CHECKSUMS.get(name);
  if (known === undefined) throw new S3Error("InvalidRequest", "The value specified in the x-amz-trailer header is not supported");
  const value = headers.get(name);
  if (value !== undefined) demandChecksum(name, value);
  return { running: known.create(), name, value };
}

/**
 * Which checksums the parts of an upload will have. They are compared one by one, so that nothing needs to be kept of it.
 *
 * @throws S3Error `InvalidRequest` for an unknown one
 */
export function demandAlgorithm(algorithm: string | undefined): void {
  if (algorithm !== undefined && !CHECKSUMS.has(`x-amz-checksum-${algorithm.toLowerCase()}`))
    throw new S3Error("InvalidRequest", "Checksum algorithm provided is unsupported.");
}

/** @throws S3Error `InvalidRequest` for what cannot be a checksum of this name */
export function demandChecksum(name: string, value: string): void {
  const bytes = Buffer.from(value, "base64");
  if (bytes.length !== CHECKSUMS.get(name)?.length || bytes.toString("base64") !== value)
    throw new S3Error("InvalidRequest", `Value for ${name} header is invalid.`);
}
