import { S3Error } from "./s3-error.ts";
import type { S3Request } from "./s3-request.ts";

/** What an object gives back as it was sent. */
const KEPT = ["cache-control", "content-disposition", "content-encoding", "content-language", "content-type", "expires"] as const;
const METADATA = "x-amz-meta-";
/** S3's limit of names and values together, in bytes. */
const MOST_METADATA = 2048;
/** What S3 answers for an object that was sent without. */
const DEFAULT_TYPE = "binary/octet-stream";

/**
 * Headers of a write that belong to the object.
 *
 * @throws S3Error `MetadataTooLarge`; `NotImplemented` for another storage class than STANDARD and another rule of access than private
 */
export function storedHeaders({ headers }: S3Request): Readonly<Record<string, string>> {
  if ((headers.get("x-amz-storage-class") ?? "STANDARD") !== "STANDARD")
    throw new S3Error("NotImplemented", "No storage class but STANDARD is provided here.");
  if ((headers.get("x-amz-acl") ?? "private") !== "private")
    throw new S3Error("NotImplemented", "No rule of access but private is provided here.");
  const stored: Record<string, string> = { "content-type": DEFAULT_TYPE };
  for (const name of KEPT) {
    const value = headers.get(name);
    const kept =
      name === "content-encoding"
        ? value
            ?.split(",")
            .map((word) => word.trim())
            .filter((word) => word !== "aws-chunked")
            .join(",")
        : value;
    if (kept !== undefined && kept !== "") stored[name] = kept;
  }
  let length = 0;
  for (const [name, value] of headers) {
    if (!name.startsWith(METADATA)) continue;
    length += name.length - METADATA.length + Buffer.byteLength(value);
    stored[name] = value;
  }
  if (length > MOST_METADATA) throw new S3Error("MetadataTooLarge");
  return stored;
}
