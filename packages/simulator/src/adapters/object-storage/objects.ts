import { open } from "node:fs/promises";
import { emptyAnswer, httpTime, xmlAnswer, type S3Answer } from "../../object-storage/answer.ts";
import { expectedBody, type BodyExpectation } from "../../object-storage/body-expectation.ts";
import { checksumHeader, type Checksum, type ChecksumAlgorithm } from "../../object-storage/checksums.ts";
import { demandReadConditions, demandWriteConditions, readRange } from "../../object-storage/reading.ts";
import { receive, type Received } from "../../object-storage/receive.ts";
import { S3Error } from "../../object-storage/s3-error.ts";
import { demandKey } from "../../object-storage/s3-request.ts";
import { storedHeaders } from "../../object-storage/stored-headers.ts";
import { parseDocument, records, text, type Element } from "../../object-storage/xml.ts";
import type { KeptObject } from "./bucket-folder.ts";
import type { S3Context } from "./context.ts";
import { readPieces } from "./read-pieces.ts";

/** S3's limit of one body: 5 GiB. */
const LARGEST_BODY = 5 * 1024 ** 3;
/** Ten thousand parts, or a thousand keys of 1,024 bytes, and room to write them. */
const LARGEST_XML = 4 * 1024 ** 2;
const MOST_DELETED = 1000;

export async function putObject(context: S3Context): Promise<S3Answer> {
  const { request, signed, folder, clock } = context;
  const { bucket, key } = request;
  const headers = storedHeaders(request);
  const expected = expectedBody(request, signed);
  const decide = (present: KeptObject | undefined): void => demandWriteConditions(request.headers, present);
  // Before the body comes, and again once it is there.
  decide(folder.object(bucket, key));
  const { file, size, md5, checksum } = await receiveFile(context, expected);
  const object: KeptObject = {
    key,
    size,
    etag: `"${md5}"`,
    modifiedAt: clock.now(),
    headers,
    pieces: size === 0 ? [] : [{ file, size }],
    ...(expected.checksum === undefined || checksum === undefined
      ? {}
      : { checksum: { algorithm: expected.checksum.algorithm, value: checksum, type: "FULL_OBJECT" as const } }),
  };
  try {
    folder.putObject(bucket, object, decide);
  } catch (thrown) {
    await folder.discard(file);
    throw thrown;
  }
  if (size === 0) await folder.discard(file);
  return emptyAnswer(200, { etag: object.etag, ...checksumHeaders(object.checksum) });
}

/** Bytes of a request in a file of their own; removed again when they are not what the request said. */
export async function receiveFile(
  { folder, body }: S3Context,
  expected: BodyExpectation,
  keep?: ChecksumAlgorithm,
): Promise<Received & { readonly file: string }> {
  if (expected.length > LARGEST_BODY) throw new S3Error("EntityTooLarge", undefined, { MaxSizeAllowed: String(LARGEST_BODY) });
  const { file, path } = folder.newFile();
  try {
    const handle = await open(path, "wx", 0o600);
    try {
      const write = async (bytes: Uint8Array): Promise<void> => {
        for (let at = 0; at < bytes.length;) at += (await handle.write(bytes, at)).bytesWritten;
      };
      return { ...(await receive(body, expected, write, keep)), file };
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    await folder.discard(file);
    throw thrown;
  }
}

export async function readObject({ request, folder, clock }: S3Context): Promise<S3Answer> {
  const { bucket, key, headers, method } = request;
  const object = folder.object(bucket, key);
  if (object === undefined) throw new S3Error("NoSuchKey", undefined, { Key: key });
  demandReadConditions(headers, object, clock.now());
  const range = readRange(headers.get("range"), object.size);
  const { first, last } = range ?? { first: 0, last: object.size - 1 };
  const answer = {
    ...object.headers,
    "accept-ranges": "bytes",
    etag: object.etag,
    "last-modified": httpTime(object.modifiedAt),
    "content-length": String(last - first + 1),
    ...(range === undefined ? {} : { "content-range": `bytes ${first}-${last}/${object.size}` }),
    // Of the whole object: with a part of it the client could not compare.
    ...(headers.get("x-amz-checksum-mode")?.toUpperCase() === "ENABLED" && range === undefined ? checksumHeaders(object.checksum) : {}),
  };
  const status = range === undefined ? 200 : 206;
  if (method === "HEAD") return { status, headers: answer };
  const release = folder.hold(object.pieces);
  return { status, headers: answer, body: readPieces(folder, object.pieces, first, last), release };
}

export async function deleteObject({ request, folder }: S3Context): Promise<S3Answer> {
  folder.removeObject(request.bucket, request.key);
  return emptyAnswer(204);
}

export async function deleteObjects(context: S3Context): Promise<S3Answer> {
  const { request, signed, folder } = context;
  const expected = expectedBody(request, signed);
  if (expected.md5 === undefined && expected.checksum === undefined)
    throw new S3Error("InvalidRequest", "Missing required header for this request: Content-MD5 OR x-amz-checksum-*");
  const asked = parseDocument(await receiveXml(context, expected), "Delete");
  const objects = records(asked, "Object");
  if (objects.length === 0 || objects.length > MOST_DELETED) throw new S3Error("MalformedXML");
  const keys = objects.map((object) => {
    const further = Object.keys(object).find((name) => name !== "Key");
    if (further !== undefined) throw new S3Error("NotImplemented", "An object to delete is named by its Key alone here.");
    const key = text(object, "Key");
    if (key === undefined || key === "") throw new S3Error("MalformedXML");
    demandKey(key);
    return key;
  });
  for (const key of keys) folder.removeObject(request.bucket, key);
  const isQuiet = text(asked, "Quiet")?.trim() === "true";
  return xmlAnswer(["DeleteResult", isQuiet ? [] : keys.map((key): Element => ["Deleted", [["Key", key]]])]);
}

/** A body of XML, as text. */
export async function receiveXml({ body }: S3Context, expected: BodyExpectation): Promise<string> {
  if (expected.length > LARGEST_XML) throw new S3Error("MaxMessageLengthExceeded");
  const pieces: Uint8Array[] = [];
  await receive(body, expected, async (bytes) => void pieces.push(bytes));
  return Buffer.concat(pieces).toString("utf8");
}

function checksumHeaders(checksum: Checksum | undefined): Readonly<Record<string, string>> {
  return checksum === undefined ? {} : { [checksumHeader(checksum.algorithm)]: checksum.value, "x-amz-checksum-type": checksum.type };
}
