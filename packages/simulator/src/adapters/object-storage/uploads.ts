import { createHash } from "node:crypto";
import { emptyAnswer, isoTime, xmlAnswer, type S3Answer } from "../../object-storage/answer.ts";
import { expectedBody, givenChecksum } from "../../object-storage/body-expectation.ts";
import { checksumHeader, compositeChecksum, createChecksum, readAlgorithm, type Checksum } from "../../object-storage/checksums.ts";
import { readCount, readEncoding } from "../../object-storage/list-parameters.ts";
import { demandWriteConditions } from "../../object-storage/reading.ts";
import { S3Error } from "../../object-storage/s3-error.ts";
import { parameter, type S3Request } from "../../object-storage/s3-request.ts";
import { storedHeaders } from "../../object-storage/stored-headers.ts";
import { parseDocument, records, text, type Element } from "../../object-storage/xml.ts";
import type { KeptObject, KeptPart, KeptUpload } from "./bucket-folder.ts";
import type { S3Context } from "./context.ts";
import { receiveFile, receiveXml } from "./objects.ts";
import { readPieces } from "./read-pieces.ts";

const MOST_PARTS = 10_000;
/** S3's least part but the last: 5 MiB. */
const LEAST_PART = 5 * 1024 ** 2;
/** S3's largest object: 5 TiB. */
const LARGEST_OBJECT = 5 * 1024 ** 4;

export async function createMultipartUpload({ request, folder, clock }: S3Context): Promise<S3Answer> {
  const { bucket, key } = request;
  const checksum = wantedChecksum(request);
  const about = { headers: storedHeaders(request), ...(checksum === undefined ? {} : { checksum }) };
  const { id } = folder.createUpload(bucket, key, clock.now(), about);
  const element: Element = [
    "InitiateMultipartUploadResult",
    [
      ["Bucket", bucket],
      ["Key", key],
      ["UploadId", id],
    ],
  ];
  return xmlAnswer(
    element,
    checksum === undefined ? {} : { "x-amz-checksum-algorithm": checksum.algorithm, "x-amz-checksum-type": checksum.type },
  );
}

export async function uploadPart(context: S3Context): Promise<S3Answer> {
  const { request, signed, folder, clock } = context;
  const number = Number(parameter(request, "partNumber"));
  if (!Number.isInteger(number) || number < 1 || number > MOST_PARTS)
    throw new S3Error("InvalidArgument", `Part number must be an integer between 1 and ${MOST_PARTS}, inclusive.`);
  const upload = demandUpload(context);
  const expected = expectedBody(request, signed);
  const algorithm = upload.checksum?.algorithm;
  if (expected.checksum !== undefined && algorithm !== undefined && expected.checksum.algorithm !== algorithm)
    throw new S3Error("InvalidRequest", `Checksum Type mismatch occurred, expected checksum Type: ${algorithm.toLowerCase()}.`);
  const { file, size, md5, checksum } = await receiveFile(context, expected, algorithm);
  const told = algorithm ?? expected.checksum?.algorithm;
  const part: KeptPart = {
    number,
    file,
    size,
    etag: `"${md5}"`,
    modifiedAt: clock.now(),
    ...(told === undefined || checksum === undefined ? {} : { checksum: { algorithm: told, value: checksum } }),
  };
  let isKept = false;
  try {
    isKept = folder.putPart(upload, part);
  } finally {
    if (!isKept) await folder.discard(file);
  }
  if (!isKept) throw new S3Error("NoSuchUpload");
  return emptyAnswer(200, {
    etag: part.etag,
    ...(part.checksum === undefined ? {} : { [checksumHeader(part.checksum.algorithm)]: part.checksum.value }),
  });
}

export async function completeMultipartUpload(context: S3Context): Promise<S3Answer> {
  const { request, signed, folder, clock } = context;
  const { bucket, key, headers } = request;
  const done = folder.object(bucket, key);
  if (done?.upload !== undefined && done.upload === parameter(request, "uploadId")) return completed(request, done);
  const upload = demandUpload(context);
  const decide = (present: KeptObject | undefined): void => demandWriteConditions(headers, present);
  decide(done);
  const parts = chosenParts(await receiveXml(context, expectedBody(request, signed, false)), folder.parts(upload.id), upload);
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  demandSizes(headers, parts, size);
  const release = folder.hold(parts);
  let checksum: Checksum | undefined;
  try {
    checksum = await checksumOf(context, upload, parts, size);
  } finally {
    release();
  }
  demandGivenChecksum(headers, checksum);
  const md5 = createHash("md5");
  for (const { etag } of parts) md5.update(Buffer.from(etag.slice(1, -1), "hex"));
  const object: KeptObject = {
    key,
    size,
    etag: `"${md5.digest("hex")}-${parts.length}"`,
    modifiedAt: clock.now(),
    headers: upload.headers,
    upload: upload.id,
    pieces: parts.map((part) => ({ file: part.file, size: part.size })),
    ...(checksum === undefined ? {} : { checksum }),
  };
  if (!folder.completeUpload(upload, object, decide)) {
    if (folder.upload(bucket, key, upload.id) === undefined) throw new S3Error("NoSuchUpload");
    throw new S3Error("OperationAborted");
  }
  return completed(request, object);
}

function completed({ bucket, headers, canonicalPath }: S3Request, { key, etag, checksum }: KeptObject): S3Answer {
  return xmlAnswer([
    "CompleteMultipartUploadResult",
    [
      ["Location", `http://${headers.get("host") ?? ""}${canonicalPath}`],
      ["Bucket", bucket],
      ["Key", key],
      ["ETag", etag],
      ...checksumElements(checksum),
    ],
  ]);
}

export async function abortMultipartUpload(context: S3Context): Promise<S3Answer> {
  context.folder.removeUpload(demandUpload(context).id);
  return emptyAnswer(204);
}

export async function listParts(context: S3Context): Promise<S3Answer> {
  const { request, folder } = context;
  const upload = demandUpload(context);
  const after = readCount(request, "part-number-marker", 0, Number.MAX_SAFE_INTEGER);
  const most = readCount(request, "max-parts", 1000, 1000);
  const encoded = readEncoding(request);
  const found = most === 0 ? [] : folder.parts(upload.id, after, most + 1);
  const parts = found.slice(0, most);
  const last = parts.at(-1)?.number ?? after;
  return xmlAnswer([
    "ListPartsResult",
    [
      ["Bucket", request.bucket],
      ["Key", encoded(request.key)],
      ["UploadId", upload.id],
      ["PartNumberMarker", String(after)],
      ["NextPartNumberMarker", String(last)],
      ["MaxParts", String(most)],
      ["IsTruncated", String(found.length > parts.length)],
      ["StorageClass", "STANDARD"],
      ...(upload.checksum === undefined
        ? []
        : ([
            ["ChecksumAlgorithm", upload.checksum.algorithm],
            ["ChecksumType", upload.checksum.type],
          ] satisfies Element[])),
      ...parts.map(({ number, modifiedAt, etag, size, checksum }): Element => [
        "Part",
        [
          ["PartNumber", String(number)],
          ["LastModified", isoTime(modifiedAt)],
          ["ETag", etag],
          ["Size", String(size)],
          ...(checksum === undefined ? [] : [[`Checksum${checksum.algorithm}`, checksum.value] as const]),
        ],
      ]),
    ],
  ]);
}

export async function listMultipartUploads({ request, folder }: S3Context): Promise<S3Answer> {
  const { bucket } = request;
  const prefix = parameter(request, "prefix") ?? "";
  const [key, id] = [parameter(request, "key-marker") ?? "", parameter(request, "upload-id-marker") ?? ""];
  const most = readCount(request, "max-uploads", 1000, 1000);
  const encoded = readEncoding(request);
  // An id without a key marks nothing, as S3 says.
  const after = key === "" ? undefined : { key, ...(id === "" ? {} : { id }) };
  const found = most === 0 ? [] : folder.uploads(bucket, prefix, after, most + 1);
  const uploads = found.slice(0, most);
  const last = found.length > uploads.length ? uploads.at(-1) : undefined;
  return xmlAnswer([
    "ListMultipartUploadsResult",
    [
      ["Bucket", bucket],
      ["KeyMarker", encoded(key)],
      ["UploadIdMarker", id],
      ...(last === undefined
        ? []
        : ([
            ["NextKeyMarker", encoded(last.key)],
            ["NextUploadIdMarker", last.id],
          ] satisfies Element[])),
      ["Prefix", encoded(prefix)],
      ["MaxUploads", String(most)],
      ["IsTruncated", String(last !== undefined)],
      ...(request.query.has("encoding-type") ? [["EncodingType", "url"] as const] : []),
      ...uploads.map((upload): Element => [
        "Upload",
        [
          ["Key", encoded(upload.key)],
          ["UploadId", upload.id],
          ["StorageClass", "STANDARD"],
          ["Initiated", isoTime(upload.begunAt)],
        ],
      ]),
    ],
  ]);
}

function demandUpload({ request, folder }: S3Context): KeptUpload {
  const id = parameter(request, "uploadId") ?? "";
  const upload = folder.upload(request.bucket, request.key, id);
  if (upload === undefined) throw new S3Error("NoSuchUpload");
  return upload;
}

/** The checksum that an upload's object is to have: COMPOSITE unless the algorithm can only be of the whole. */
function wantedChecksum({ headers }: S3Request): KeptUpload["checksum"] {
  const [named, type] = [headers.get("x-amz-checksum-algorithm"), headers.get("x-amz-checksum-type")?.toUpperCase()];
  if (named === undefined) {
    if (type !== undefined)
      throw new S3Error("InvalidRequest", "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.");
    return undefined;
  }
  const algorithm = readAlgorithm(named);
  const [canCompose, canBeWhole] = [algorithm !== "CRC64NVME", algorithm.startsWith("CRC")];
  const wanted = type ?? (canCompose ? "COMPOSITE" : "FULL_OBJECT");
  if ((wanted !== "COMPOSITE" || !canCompose) && (wanted !== "FULL_OBJECT" || !canBeWhole))
    throw new S3Error(
      "InvalidRequest",
      `The ${wanted} checksum type cannot be used with the ${algorithm.toLowerCase()} checksum algorithm.`,
    );
  return { algorithm, type: wanted };
}

/** The parts that a request to complete names, each held to what it says of them. */
function chosenParts(xml: string, kept: readonly KeptPart[], upload: KeptUpload): readonly KeptPart[] {
  const asked = records(parseDocument(xml, "CompleteMultipartUpload"), "Part");
  if (asked.length === 0 || asked.length > MOST_PARTS) throw new S3Error("MalformedXML");
  const byNumber = new Map(kept.map((part) => [part.number, part]));
  let before = 0;
  return asked.map((one) => {
    const number = Number(text(one, "PartNumber") ?? "none");
    const etag = text(one, "ETag")
      ?.trim()
      .replace(/^"(.*)"$/, "$1");
    if (!Number.isInteger(number) || etag === undefined) throw new S3Error("MalformedXML");
    if (number < 1 || number > MOST_PARTS) throw new S3Error("InvalidArgument", `PartNumber must be between 1 and ${MOST_PARTS}.`);
    if (number <= before) throw new S3Error("InvalidPartOrder");
    before = number;
    const part = byNumber.get(number);
    if (part === undefined || part.etag !== `"${etag}"` || !hasChecksum(one, part, upload.checksum))
      throw new S3Error("InvalidPart", undefined, { PartNumber: String(number), UploadId: upload.id });
    return part;
  });
}

/**
 * Whether the checksum that is given of a part is the part's.
 *
 * @throws S3Error `InvalidRequest` without one where the object's is made of those of its parts
 */
function hasChecksum(given: Parameters<typeof text>[0], part: KeptPart, checksum: KeptUpload["checksum"]): boolean {
  const [name, ...more] = Object.keys(given).filter((name) => name.startsWith("Checksum"));
  if (name === undefined && checksum?.type === "COMPOSITE")
    throw new S3Error(
      "InvalidRequest",
      `The upload was created using a ${checksum.algorithm.toLowerCase()} checksum. The complete request must include the checksum for each part.`,
    );
  if (name === undefined) return true;
  return more.length === 0 && name === `Checksum${part.checksum?.algorithm ?? ""}` && text(given, name) === part.checksum?.value;
}

function demandSizes(headers: ReadonlyMap<string, string>, parts: readonly KeptPart[], size: number): void {
  for (const part of parts.slice(0, -1))
    if (part.size < LEAST_PART)
      throw new S3Error("EntityTooSmall", undefined, {
        ProposedSize: String(part.size),
        MinSizeAllowed: String(LEAST_PART),
        PartNumber: String(part.number),
        ETag: part.etag,
      });
  if (size > LARGEST_OBJECT) throw new S3Error("EntityTooLarge");
  const told = headers.get("x-amz-mp-object-size");
  if (told !== undefined && told !== String(size))
    throw new S3Error("InvalidRequest", "The provided 'x-amz-mp-object-size' header does not match what was uploaded.");
}

async function checksumOf(
  { folder }: S3Context,
  { checksum }: KeptUpload,
  parts: readonly KeptPart[],
  size: number,
): Promise<Checksum | undefined> {
  if (checksum === undefined) return undefined;
  if (checksum.type === "COMPOSITE")
    return compositeChecksum(
      checksum.algorithm,
      parts.map((part) => part.checksum?.value ?? ""),
    );
  const running = createChecksum(checksum.algorithm);
  for await (const bytes of readPieces(folder, parts, 0, size - 1)) running.update(bytes);
  return { ...checksum, value: await running.digest() };
}

function demandGivenChecksum(headers: ReadonlyMap<string, string>, checksum: Checksum | undefined): void {
  const [given, type] = [givenChecksum(headers), headers.get("x-amz-checksum-type")?.toUpperCase()];
  if (type !== undefined && type !== checksum?.type)
    throw new S3Error("InvalidRequest", "The upload was created with another checksum type than the one that is given.");
  if (given === undefined) return;
  if (given.algorithm !== checksum?.algorithm)
    throw new S3Error("InvalidRequest", "The upload was created with another checksum algorithm than the one that is given.");
  // Clients give a COMPOSITE one with and without the number of parts.
  if (given.value !== checksum.value && `${given.value}-${checksum.value.split("-")[1] ?? ""}` !== checksum.value)
    throw new S3Error("BadDigest", `The ${checksum.algorithm} you specified did not match the calculated checksum.`);
}

function checksumElements(checksum: Checksum | undefined): readonly Element[] {
  return checksum === undefined
    ? []
    : [
        [`Checksum${checksum.algorithm}`, checksum.value],
        ["ChecksumType", checksum.type],
      ];
}
