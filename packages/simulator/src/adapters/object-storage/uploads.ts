import { createHash } from "node:crypto";
import { emptyAnswer, xmlAnswer, type S3Answer } from "../../object-storage/answer.ts";
import { demandAlgorithm } from "../../object-storage/checksums.ts";
import { expectedBody, receive } from "../../object-storage/receive.ts";
import { S3Error } from "../../object-storage/s3-error.ts";
import { parameter } from "../../object-storage/s3-request.ts";
import { parseDocument, records, text, type Element } from "../../object-storage/xml.ts";
import type { KeptObject, KeptPart, KeptUpload } from "./bucket-folder.ts";
import type { S3Context } from "./context.ts";
import { receiveFile } from "./objects.ts";

const MOST_PARTS = 10_000;
/** S3's least part but the last: 5 MiB. */
const LEAST_PART = 5 * 1024 ** 2;
/** Ten thousand parts, and room to write them. */
const LARGEST_XML = 4 * 1024 ** 2;

export async function createMultipartUpload({ request, folder }: S3Context): Promise<S3Answer> {
  const { bucket, key, headers } = request;
  demandAlgorithm(headers.get("x-amz-checksum-algorithm"));
  const upload = folder.createUpload(bucket, key, Date.now(), headers.get("content-type"));
  const element: Element = [
    "InitiateMultipartUploadResult",
    [
      ["Bucket", bucket],
      ["Key", key],
      ["UploadId", upload],
    ],
  ];
  return xmlAnswer(element);
}

export async function uploadPart(context: S3Context): Promise<S3Answer> {
  const { request, folder } = context;
  const number = Number(parameter(request, "partNumber"));
  if (!Number.isInteger(number) || number < 1 || number > MOST_PARTS)
    throw new S3Error("InvalidArgument", `Part number must be an integer between 1 and ${MOST_PARTS}, inclusive.`);
  const { id } = demandUpload(context);
  const received = await receiveFile(context);
  try {
    // The upload may have ended while the part came.
    demandUpload(context);
    folder.putPart(id, { ...received, number, modifiedAt: Date.now() });
  } catch (thrown) {
    await folder.discard(received.file);
    throw thrown;
  }
  return emptyAnswer(200, { etag: received.etag });
}

/** Makes the object of the parts that the request names. A client that asks once more, as an answer was lost, gets the same answer. */
export async function completeMultipartUpload(context: S3Context): Promise<S3Answer> {
  const { request, sha256, folder, body } = context;
  const { bucket, key } = request;
  const expected = expectedBody(request, sha256);
  if (expected.length > LARGEST_XML) throw new S3Error("MaxMessageLengthExceeded");
  const pieces: Uint8Array[] = [];
  await receive(body, expected, async (bytes) => void pieces.push(bytes));
  // From here on nothing waits, so that no other request comes between.
  const done = folder.object(bucket, key);
  if (done?.upload !== undefined && done.upload === parameter(request, "uploadId")) return completed(bucket, done);
  const upload = demandUpload(context);
  const parts = chosenParts(Buffer.concat(pieces).toString("utf8"), folder.parts(upload.id));
  const md5 = createHash("md5");
  for (const { etag } of parts) md5.update(Buffer.from(etag.slice(1, -1), "hex"));
  const object: KeptObject = {
    key,
    size: parts.reduce((sum, { size }) => sum + size, 0),
    etag: `"${md5.digest("hex")}-${parts.length}"`,
    modifiedAt: Date.now(),
    type: upload.type,
    upload: upload.id,
    pieces: parts.map(({ file, size }) => ({ file, size })),
  };
  folder.completeUpload(upload, object);
  return completed(bucket, object);
}

function completed(bucket: string, { key, etag }: KeptObject): S3Answer {
  return xmlAnswer([
    "CompleteMultipartUploadResult",
    [
      ["Bucket", bucket],
      ["Key", key],
      ["ETag", etag],
    ],
  ]);
}

export async function abortMultipartUpload(context: S3Context): Promise<S3Answer> {
  context.folder.removeUpload(demandUpload(context).id);
  return emptyAnswer(204);
}

/** All parts on one page: what a client needs to go on with an upload. */
export async function listParts(context: S3Context): Promise<S3Answer> {
  const { request, folder } = context;
  const upload = demandUpload(context);
  return xmlAnswer([
    "ListPartsResult",
    [
      ["Bucket", request.bucket],
      ["Key", request.key],
      ["UploadId", upload.id],
      ["IsTruncated", "false"],
      ["StorageClass", "STANDARD"],
      ...folder.parts(upload.id).map(({ number, modifiedAt, etag, size }): Element => [
        "Part",
        [
          ["PartNumber", String(number)],
          ["LastModified", new Date(modifiedAt).toISOString()],
          ["ETag", etag],
          ["Size", String(size)],
        ],
      ]),
    ],
  ]);
}

/** All open uploads on one page. */
export async function listMultipartUploads({ request, folder }: S3Context): Promise<S3Answer> {
  const prefix = parameter(request, "prefix") ?? "";
  return xmlAnswer([
    "ListMultipartUploadsResult",
    [
      ["Bucket", request.bucket],
      ["Prefix", prefix],
      ["IsTruncated", "false"],
      ...folder.uploads(request.bucket, prefix).map(({ key, id, begunAt }): Element => [
        "Upload",
        [
          ["Key", key],
          ["UploadId", id],
          ["StorageClass", "STANDARD"],
          ["Initiated", new Date(begunAt).toISOString()],
        ],
      ]),
    ],
  ]);
}

function demandUpload({ request, folder }: S3Context): KeptUpload {
  const upload = folder.upload(request.bucket, request.key, parameter(request, "uploadId") ?? "");
  if (upload === undefined) throw new S3Error("NoSuchUpload");
  return upload;
}

/** The parts that a request to complete names, each compared with what it says of them. */
function chosenParts(xml: string, kept: readonly KeptPart[]): readonly KeptPart[] {
  const asked = records(parseDocument(xml, "CompleteMultipartUpload"), "Part");
  if (asked.length === 0 || asked.length > MOST_PARTS) throw new S3Error("MalformedXML");
  const byNumber = new Map(kept.map((part) => [part.number, part]));
  let before = 0;
  const chosen = asked.map((one) => {
    const [number, etag] = [Number(text(one, "PartNumber") ?? "none"), text(one, "ETag")?.trim().replaceAll('"', "")];
    if (!Number.isInteger(number) || etag === undefined) throw new S3Error("MalformedXML");
    if (number <= before) throw new S3Error("InvalidPartOrder");
    before = number;
    const part = byNumber.get(number);
    if (part === undefined || part.etag !== `"${etag}"`) throw new S3Error("InvalidPart");
    return part;
  });
  if (chosen.slice(0, -1).some(({ size }) => size < LEAST_PART)) throw new S3Error("EntityTooSmall");
  return chosen;
}
