import { S3Error } from "./s3-error.ts";
import type { S3Request } from "./s3-request.ts";

/** What the endpoint does, by S3's names. */
export type Operation =
  | "AbortMultipartUpload"
  | "CompleteMultipartUpload"
  | "CreateBucket"
  | "CreateMultipartUpload"
  | "DeleteObject"
  | "DeleteObjects"
  | "GetBucketLocation"
  | "GetBucketVersioning"
  | "GetObject"
  | "HeadBucket"
  | "HeadObject"
  | "ListBuckets"
  | "ListMultipartUploads"
  | "ListObjects"
  | "ListObjectsV2"
  | "ListParts"
  | "PutObject"
  | "UploadPart";

interface Rule {
  readonly method: string;
  readonly scope: "service" | "bucket" | "object";
  /** Parameters that tell this operation from others of the method. */
  readonly markers?: readonly string[];
  /** Further parameters that it heeds. */
  readonly parameters?: readonly string[];
  /** Headers that it heeds beside those of every request. */
  readonly headers?: RegExp;
}

const READS = /^(?:if-(?:match|none-match|modified-since|unmodified-since)|range|x-amz-checksum-mode)$/;
const CHECKSUM = "x-amz-(?:sdk-checksum-algorithm|checksum-(?:crc32c?|crc64nvme|sha1|sha256)|trailer|decoded-content-length)";
const WRITES = new RegExp(`^(?:if-(?:match|none-match)|x-amz-meta-.*|x-amz-(?:acl|storage-class)|${CHECKSUM})$`);
const LISTS = ["prefix", "delimiter", "encoding-type", "max-keys"];

/** In this order: those with more markers first. */
const RULES: Readonly<Record<Operation, Rule>> = {
  ListBuckets: { method: "GET", scope: "service" },
  GetBucketLocation: { method: "GET", scope: "bucket", markers: ["location"] },
  GetBucketVersioning: { method: "GET", scope: "bucket", markers: ["versioning"] },
  ListMultipartUploads: {
    method: "GET",
    scope: "bucket",
    markers: ["uploads"],
    parameters: ["prefix", "encoding-type", "key-marker", "upload-id-marker", "max-uploads"],
  },
  ListObjectsV2: {
    method: "GET",
    scope: "bucket",
    markers: ["list-type"],
    parameters: [...LISTS, "continuation-token", "start-after", "fetch-owner"],
  },
  ListObjects: { method: "GET", scope: "bucket", parameters: [...LISTS, "marker"] },
  HeadBucket: { method: "HEAD", scope: "bucket" },
  CreateBucket: { method: "PUT", scope: "bucket" },
  DeleteObjects: { method: "POST", scope: "bucket", markers: ["delete"], headers: new RegExp(`^${CHECKSUM}$`) },
  UploadPart: { method: "PUT", scope: "object", markers: ["uploadId", "partNumber"], headers: new RegExp(`^${CHECKSUM}$`) },
  PutObject: { method: "PUT", scope: "object", headers: WRITES },
  CreateMultipartUpload: {
    method: "POST",
    scope: "object",
    markers: ["uploads"],
    headers: /^(?:x-amz-meta-.*|x-amz-(?:acl|storage-class|checksum-algorithm|checksum-type))$/,
  },
  CompleteMultipartUpload: {
    method: "POST",
    scope: "object",
    markers: ["uploadId"],
    headers: /^(?:if-(?:match|none-match)|x-amz-mp-object-size|x-amz-checksum-(?:type|crc32c?|crc64nvme|sha1|sha256))$/,
  },
  AbortMultipartUpload: { method: "DELETE", scope: "object", markers: ["uploadId"] },
  DeleteObject: { method: "DELETE", scope: "object" },
  ListParts: { method: "GET", scope: "object", markers: ["uploadId"], parameters: ["part-number-marker", "max-parts", "encoding-type"] },
  GetObject: { method: "GET", scope: "object", headers: READS },
  HeadObject: { method: "HEAD", scope: "object", headers: READS },
};

const METHODS: ReadonlySet<string> = new Set(Object.values(RULES).map(({ method }) => method));
/** The name of the operation, which some clients add. */
const NAMING = "x-id";
const EVERY_REQUEST = /^x-amz-(?:content-sha256|date|user-agent)$/;
/** Headers outside of `x-amz-` that change what a request does. */
const CONDITIONS = /^(?:if-.*|range)$/;

/**
 * Which operation a request asks for. Whatever it asks for beside that and is not heeded here makes the whole request one that is not provided:
 * nothing is left out in silence.
 *
 * @throws S3Error `NotImplemented`; `MethodNotAllowed` for what is no operation of S3's either
 */
export function operationOf(request: S3Request): Operation {
  const scope = request.key !== "" ? "object" : request.bucket !== "" ? "bucket" : "service";
  for (const [operation, rule] of Object.entries(RULES) as [Operation, Rule][]) {
    if (rule.method !== request.method || rule.scope !== scope) continue;
    if (!(rule.markers ?? []).every((name) => request.query.has(name))) continue;
    demandHeeded(request, rule);
    return operation;
  }
  const isBare = [...request.query.keys()].every((name) => name === NAMING);
  if (isBare && (request.method === "POST" || !METHODS.has(request.method))) throw new S3Error("MethodNotAllowed");
  throw new S3Error("NotImplemented", `This ${shown(request.method)} of a ${scope} is not provided here.`);
}

function demandHeeded({ query, headers }: S3Request, { markers = [], parameters = [], headers: heeded }: Rule): void {
  for (const name of query.keys())
    if (!markers.includes(name) && !parameters.includes(name) && name !== NAMING)
      throw new S3Error("NotImplemented", `The parameter ${shown(name)} is not provided here.`);
  for (const name of headers.keys())
    if ((name.startsWith("x-amz-") || CONDITIONS.test(name)) && !EVERY_REQUEST.test(name) && heeded?.test(name) !== true)
      throw new S3Error("NotImplemented", `The header ${shown(name)} is not provided here.`);
}

function shown(name: string): string {
  return name.slice(0, 60).replaceAll(/[^\x20-\x7e]/g, "?");
}
