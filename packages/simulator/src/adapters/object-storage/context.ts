import type { Clock } from "@talos-operator/ports";
import type { S3Request } from "../../object-storage/s3-request.ts";
import type { SignedBody } from "../../object-storage/signature.ts";
import type { BucketFolder } from "./bucket-folder.ts";

/** What an operation works with. */
export interface S3Context {
  readonly request: S3Request;
  readonly signed: SignedBody;
  readonly folder: BucketFolder;
  readonly buckets: ReadonlyMap<string, { readonly createdAt: number }>;
  readonly region: string;
  readonly clock: Clock;
  /** The request's body. The client is told to send it, where it waits for that, at the first read. */
  readonly body: AsyncIterable<Uint8Array>;
}
