import { open } from "node:fs/promises";
import { emptyAnswer, xmlAnswer, type S3Answer } from "../../object-storage/answer.ts";
import { demandWritable, readRange } from "../../object-storage/reading.ts";
import { expectedBody, receive } from "../../object-storage/receive.ts";
import { S3Error } from "../../object-storage/s3-error.ts";
import { parameter } from "../../object-storage/s3-request.ts";
import type { Element } from "../../object-storage/xml.ts";
import type { S3Context } from "./context.ts";
import { readPieces } from "./read-pieces.ts";

/** S3's limit of one body: 5 GiB. */
const LARGEST_BODY = 5 * 1024 ** 3;
const MOST_LISTED = 1000;
/** What S3 answers for an object that was sent without a type. */
const DEFAULT_TYPE = "binary/octet-stream";

export async function putObject(context: S3Context): Promise<S3Answer> {
  const { request, folder } = context;
  const { bucket, key, headers } = request;
  const demand = (): void => demandWritable(headers, folder.object(bucket, key) !== undefined);
  // Before the body comes, and again once it is there.
  demand();
  const { file, size, etag } = await receiveFile(context);
  try {
    demand();
    const pieces = [{ file, size }];
    folder.putObject(bucket, { key, size, etag, modifiedAt: Date.now(), type: headers.get("content-type"), pieces });
  } catch (thrown) {
    await folder.discard(file);
    throw thrown;
  }
  return emptyAnswer(200, { etag });
}

/** The body of a request in a file of its own. The file is removed when the body is not what the request said. */
export async function receiveFile({
  request,
  sha256,
  folder,
  body,
}: S3Context): Promise<{ readonly file: string; readonly size: number; readonly etag: string }> {
  const expected = expectedBody(request, sha256);
  if (expected.length > LARGEST_BODY) throw new S3Error("EntityTooLarge");
  const { file, path } = folder.newFile();
  try {
    const handle = await open(path, "wx", 0o600);
    try {
      const md5 = await receive(body, expected, async (bytes) => {
        for (let at = 0; at < bytes.length;) at += (await handle.write(bytes, at)).bytesWritten;
      });
      return { file, size: expected.length, etag: `"${md5}"` };
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    await folder.discard(file);
    throw thrown;
  }
}

export async function readObject({ request, folder }: S3Context): Promise<S3Answer> {
  const { bucket, key, headers, method } = request;
  const object = folder.object(bucket, key);
  if (object === undefined) throw new S3Error("NoSuchKey");
  const match = headers.get("if-match");
  if (match !== undefined && match !== object.etag) throw new S3Error("PreconditionFailed");
  const range = readRange(headers.get("range"), object.size);
  const { first, last } = range ?? { first: 0, last: object.size - 1 };
  const answer = {
    status: range === undefined ? 200 : 206,
    headers: {
      "accept-ranges": "bytes",
      "content-type": object.type ?? DEFAULT_TYPE,
      etag: object.etag,
      "last-modified": new Date(object.modifiedAt).toUTCString(),
      "content-length": String(last - first + 1),
      ...(range === undefined ? {} : { "content-range": `bytes ${first}-${last}/${object.size}` }),
    },
  };
  if (method === "HEAD") return answer;
  const release = folder.hold(object.pieces);
  return { ...answer, body: readPieces(folder, object.pieces, first, last), release };
}

export async function deleteObject({ request, folder }: S3Context): Promise<S3Answer> {
  folder.removeObject(request.bucket, request.key);
  return emptyAnswer(204);
}

/** ListObjectsV2. The token of the next page is the last key of this one. */
export async function listObjects({ request, folder }: S3Context): Promise<S3Answer> {
  if (parameter(request, "list-type") !== "2") throw new S3Error("InvalidArgument", "list-type must be 2.");
  const [token, startAfter] = [parameter(request, "continuation-token"), parameter(request, "start-after")];
  const prefix = parameter(request, "prefix") ?? "";
  const asked = parameter(request, "max-keys") ?? String(MOST_LISTED);
  if (!/^\d{1,9}$/.test(asked)) throw new S3Error("InvalidArgument", "Provided max-keys not an integer or within integer range.");
  const most = Math.min(Number(asked), MOST_LISTED);
  const after = token === undefined ? (startAfter ?? "") : Buffer.from(token, "base64url").toString("utf8");
  const found = most === 0 ? [] : folder.objects(request.bucket, prefix, after, most + 1);
  const listed = found.slice(0, most);
  const next = found.length > listed.length ? Buffer.from(listed.at(-1)?.key ?? "").toString("base64url") : undefined;
  return xmlAnswer([
    "ListBucketResult",
    [
      ["Name", request.bucket],
      ["Prefix", prefix],
      ...(startAfter === undefined ? [] : [["StartAfter", startAfter] as const]),
      ...(token === undefined ? [] : [["ContinuationToken", token] as const]),
      ...(next === undefined ? [] : [["NextContinuationToken", next] as const]),
      ["KeyCount", String(listed.length)],
      ["MaxKeys", String(most)],
      ["IsTruncated", String(next !== undefined)],
      ...listed.map(({ key, modifiedAt, etag, size }): Element => [
        "Contents",
        [
          ["Key", key],
          ["LastModified", new Date(modifiedAt).toISOString()],
          ["ETag", etag],
          ["Size", String(size)],
          ["StorageClass", "STANDARD"],
        ],
      ]),
    ],
  ]);
}
