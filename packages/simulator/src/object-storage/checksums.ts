import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { Crc32cJs, Crc64NvmeJs } from "@aws-sdk/checksums/crc";
import { S3Error } from "./s3-error.ts";

export const checksumAlgorithms = ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"] as const;
export type ChecksumAlgorithm = (typeof checksumAlgorithms)[number];

/** What is known of an object's bytes beside its ETag. */
export interface Checksum {
  readonly algorithm: ChecksumAlgorithm;
  /** Base64; of an object in parts that is COMPOSITE with `-` and the number of its parts. */
  readonly value: string;
  readonly type: ChecksumType;
}

/** Of all bytes, or of the checksums of the parts. */
export type ChecksumType = "FULL_OBJECT" | "COMPOSITE";

/** Counts bytes as they come. */
export interface RunningChecksum {
  update(bytes: Uint8Array): void;
  /** Base64. Ends the count. */
  digest(): Promise<string>;
}

const LENGTHS: Readonly<Record<ChecksumAlgorithm, number>> = { CRC32: 4, CRC32C: 4, CRC64NVME: 8, SHA1: 20, SHA256: 32 };

export function createChecksum(algorithm: ChecksumAlgorithm): RunningChecksum {
  switch (algorithm) {
    case "CRC32": {
      let value = 0;
      return {
        update: (bytes) => void (value = crc32(bytes, value)),
        digest: async () => {
          const bytes = Buffer.alloc(4);
          bytes.writeUInt32BE(value);
          return bytes.toString("base64");
        },
      };
    }
    case "CRC32C":
      return ofLibrary(new Crc32cJs());
    case "CRC64NVME":
      return ofLibrary(new Crc64NvmeJs());
    case "SHA1":
    case "SHA256": {
      const hash = createHash(algorithm.toLowerCase());
      return { update: (bytes) => void hash.update(bytes), digest: async () => hash.digest("base64") };
    }
  }
}

function ofLibrary(counting: { update(bytes: Uint8Array): void; digest(): Promise<Uint8Array> }): RunningChecksum {
  return { update: (bytes) => counting.update(bytes), digest: async () => Buffer.from(await counting.digest()).toString("base64") };
}

export function checksumHeader(algorithm: ChecksumAlgorithm): string {
  return `x-amz-checksum-${algorithm.toLowerCase()}`;
}

/** @throws S3Error `NotImplemented` for algorithms that are not kept here, `InvalidRequest` for words that are none */
export function readAlgorithm(word: string): ChecksumAlgorithm {
  const found = checksumAlgorithms.find((algorithm) => algorithm === word.toUpperCase());
  if (found !== undefined) return found;
  if (/^(?:MD5|SHA512|XXHASH\w+)$/i.test(word)) throw new S3Error("NotImplemented", `The checksum ${word} is not provided here.`);
  throw new S3Error("InvalidRequest", "Checksum algorithm provided is unsupported. Please try again with any of the valid types.");
}

/** @throws S3Error `InvalidRequest` for what cannot be a checksum of this algorithm */
export function demandChecksum(algorithm: ChecksumAlgorithm, value: string): void {
  const bytes = Buffer.from(value, "base64");
  if (bytes.length !== LENGTHS[algorithm] || bytes.toString("base64") !== value)
    throw new S3Error("InvalidRequest", `Value for ${checksumHeader(algorithm)} header is invalid.`);
}

/** The checksum of an object of which each part has one: over their bytes in order. */
export async function compositeChecksum(algorithm: ChecksumAlgorithm, parts: readonly string[]): Promise<Checksum> {
  const running = createChecksum(algorithm);
  for (const part of parts) running.update(Buffer.from(part, "base64"));
  return { algorithm, value: `${await running.digest()}-${parts.length}`, type: "COMPOSITE" };
}
