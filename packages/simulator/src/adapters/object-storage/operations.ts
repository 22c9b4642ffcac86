import type { S3Answer } from "../../object-storage/answer.ts";
import { S3Error } from "../../object-storage/s3-error.ts";
import type { S3Request } from "../../object-storage/s3-request.ts";
import type { S3Context } from "./context.ts";
import { deleteObject, listObjects, putObject, readObject } from "./objects.ts";
import {
  abortMultipartUpload,
  completeMultipartUpload,
  createMultipartUpload,
  listMultipartUploads,
  listParts,
  uploadPart,
} from "./uploads.ts";

/** An operation of S3 that the endpoint does. */
interface Operation {
  readonly method: string;
  readonly scope: "bucket" | "object";
  /** Parameters that tell this operation from others of the method. */
  readonly markers?: readonly string[];
  /** Further parameters that it heeds. */
  readonly parameters?: readonly string[];
  /** The headers that it heeds beside those of every request. */
  readonly headers?: RegExp;
  readonly serve: (context: S3Context) => Promise<S3Answer>;
}

/** What a request says of its body beside `x-amz-content-sha256`. */
const OF_BODY = "x-amz-checksum-(?:crc32c?|crc64nvme|sha1|sha256)|x-amz-(?:sdk-checksum-algorithm|trailer|decoded-content-length)";
const OF_WRITE = new RegExp(`^(?:if-none-match|${OF_BODY})$`);
/** Who asks for a checksum (`x-amz-checksum-mode`) gets none, as S3 answers for an object without one. */
const OF_READ = /^(?:range|if-match|x-amz-checksum-mode)$/;

const OF_LIST = ["list-type", "prefix", "max-keys", "continuation-token", "start-after"];

/** In this order: those with markers first. */
const OPERATIONS: readonly Operation[] = [
  { method: "GET", scope: "bucket", markers: ["uploads"], parameters: ["prefix"], serve: listMultipartUploads },
  {
    method: "GET",
    scope: "bucket",
    markers: ["list-type"],
    parameters: OF_LIST,
    serve: listObjects,
  },
  { method: "PUT", scope: "object", markers: ["uploadId", "partNumber"], headers: new RegExp(`^(?:${OF_BODY})$`), serve: uploadPart },
  { method: "PUT", scope: "object", headers: OF_WRITE, serve: putObject },
  { method: "POST", scope: "object", markers: ["uploads"], headers: /^x-amz-checksum-algorithm$/, serve: createMultipartUpload },
  { method: "POST", scope: "object", markers: ["uploadId"], serve: completeMultipartUpload },
  { method: "DELETE", scope: "object", markers: ["uploadId"], serve: abortMultipartUpload },
  { method: "DELETE", scope: "object", serve: deleteObject },
  { method: "GET", scope: "object", markers: ["uploadId"], serve: listParts },
  // Whose endpoint names the bucket asks for a list of what is an object: S3 answers with the object, or that there is none.
  { method: "GET", scope: "object", parameters: OF_LIST, headers: OF_READ, serve: readObject },
  { method: "HEAD", scope: "object", headers: OF_READ, serve: readObject },
];

/** The name of the operation, which some clients add. */
const NAMING = "x-id";
const EVERY_REQUEST = /^x-amz-(?:content-sha256|date|user-agent)$/;
/** Headers that change what a request does. */
const EFFECTIVE = /^(?:x-amz-.*|if-.*|range)$/;

/**
 * Which operation a request asks for. Whatever it asks for beside that and is not heeded here makes the whole request one that is not provided:
 * nothing is left out in silence.
 *
 * @throws S3Error `NotImplemented`
 */
export function operationOf(request: S3Request): Operation["serve"] {
  const { method, query, headers } = request;
  const scope = request.key === "" ? "bucket" : "object";
  const found = OPERATIONS.find(
    (one) => one.method === method && one.scope === scope && (one.markers ?? []).every((name) => query.has(name)),
  );
  if (found === undefined) throw new S3Error("NotImplemented", `This ${shown(method)} of the ${scope} is not provided here.`);
  const { markers = [], parameters = [], headers: heeded } = found;
  for (const name of query.keys())
    if (!markers.includes(name) && !parameters.includes(name) && name !== NAMING)
      throw new S3Error("NotImplemented", `The parameter ${shown(name)} is not provided here.`);
  for (const name of headers.keys())
    if (EFFECTIVE.test(name) && !EVERY_REQUEST.test(name) && heeded?.test(name) !== true)
      throw new S3Error("NotImplemented", `The header ${shown(name)} is not provided here.`);
  return found.serve;
}

function shown(name: string): string {
  return name.slice(0, 60).replaceAll(/[^\x20-\x7e]/g, "?");
}
