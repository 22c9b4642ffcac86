import { S3Error } from "./s3-error.ts";

/** What conditions are judged by. */
export interface Present {
  /** With its quotes. */
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number;
}

/** Bytes of an object, both ends included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * The bytes that a `Range` asks for; `undefined` = all. A header that is no range of bytes is as none, as HTTP says.
 *
 * @throws S3Error `InvalidRange` when the object has none of them, `NotImplemented` for several at once
 */
export function readRange(header: string | undefined, size: number): ByteRange | undefined {
  if (header === undefined) return undefined;
  if (/^bytes=.*,/.test(header)) throw new S3Error("NotImplemented", "Several ranges in one request are not provided here.");
  const match = /^bytes=(?:(\d{1,15})-(\d{1,15})?|-(\d{1,15}))$/.exec(header);
  if (match === null) return undefined;
  const [first, last] =
    match[3] === undefined ? [Number(match[1]), Number(match[2] ?? size - 1)] : [Math.max(0, size - Number(match[3])), size - 1];
  if (match[2] !== undefined && last < first) return undefined;
  if (first >= size || match[3] === "0")
    throw new S3Error("InvalidRange", undefined, { ActualObjectSize: String(size), RangeRequested: header });
  return { first, last: Math.min(last, size - 1) };
}

/**
 * Whether a read goes ahead, in the order of RFC 9110, 13.2.2. A time of the future says nothing, as with S3.
 *
 * @throws S3Error `PreconditionFailed`, `NotModified`
 */
export function demandReadConditions(headers: ReadonlyMap<string, string>, present: Present, now: number): void {
  const [match, noneMatch] = [headers.get("if-match"), headers.get("if-none-match")];
  const [unmodified, modified] = [timeOf(headers.get("if-unmodified-since")), timeOf(headers.get("if-modified-since"))];
  // HTTP's times have seconds.
  const modifiedAt = Math.floor(present.modifiedAt / 1000) * 1000;
  if (match !== undefined ? !names(match, present.etag) : unmodified !== undefined && modifiedAt > unmodified)
    throw new S3Error("PreconditionFailed", undefined, { Condition: match === undefined ? "If-Unmodified-Since" : "If-Match" });
  if (noneMatch !== undefined ? names(noneMatch, present.etag) : modified !== undefined && modified <= now && modifiedAt <= modified)
    throw new S3Error("NotModified");
}

/**
 * Whether a write goes ahead over what is there.
 *
 * @throws S3Error `PreconditionFailed`; `NoSuchKey` for `If-Match` over nothing; `NotImplemented` for `If-None-Match` of anything but `*`, as S3
 */
export function demandWriteConditions(headers: ReadonlyMap<string, string>, present: Present | undefined): void {
  const [match, noneMatch] = [headers.get("if-match"), headers.get("if-none-match")];
  if (noneMatch !== undefined && noneMatch !== "*") throw new S3Error("NotImplemented", "If-None-Match of a write takes * alone.");
  if (noneMatch !== undefined && present !== undefined) throw new S3Error("PreconditionFailed", undefined, { Condition: "If-None-Match" });
  if (match === undefined) return;
  if (present === undefined) throw new S3Error("NoSuchKey");
  if (!names(match, present.etag)) throw new S3Error("PreconditionFailed", undefined, { Condition: "If-Match" });
}

function names(header: string, etag: string): boolean {
  return header.split(",").some((one) => {
    const word = one.trim().replace(/^W\//, "");
    return word === "*" || word === etag || `"${word}"` === etag;
  });
}

function timeOf(header: string | undefined): number | undefined {
  const time = Date.parse(header ?? "");
  return Number.isNaN(time) ? undefined : time;
}
