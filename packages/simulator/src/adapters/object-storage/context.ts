import type { S3Request } from "../../object-storage/s3-request.ts";
import type { BucketFolder } from "./bucket-folder.ts";

/** What an operation works with. */
export interface S3Context {
  readonly request: S3Request;
  /** What the signature says of the body; `undefined` = nothing. */
  readonly sha256: string | undefined;
  readonly folder: BucketFolder;
  readonly body: AsyncIterable<Uint8Array>;
}
