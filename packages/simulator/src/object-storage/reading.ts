import { S3Error } from "./s3-error.ts";

/** Bytes of an object, both ends included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * The bytes that a `Range` asks for; `undefined` = all.
 *
 * @throws S3Error `InvalidRange` when the object has none of them, `NotImplemented` for other forms than `bytes=FIRST-` and `bytes=FIRST-LAST`
 */
export function readRange(header: string | undefined, size: number): ByteRange | undefined {
  if (header === undefined) return undefined;
  const match = /^bytes=(\d{1,15})-(\d{1,15})?$/.exec(header);
  const [first, last] = [Number(match?.[1]), Number(match?.[2] ?? size - 1)];
  if (match === null || (match[2] !== undefined && last < first))
    throw new S3Error("NotImplemented", "Only ranges of the forms bytes=FIRST- and bytes=FIRST-LAST are provided here.");
  if (first >= size) throw new S3Error("InvalidRange");
  return { first, last: Math.min(last, size - 1) };
}

/**
 * Whether a write goes ahead over what is there.
 *
 * @throws S3Error `PreconditionFailed`; `NotImplemented` for `If-None-Match` of anything but `*`, as S3
 */
export function demandWritable(headers: ReadonlyMap<string, string>, isPresent: boolean): void {
  const noneMatch = headers.get("if-none-match");
  if (noneMatch === undefined) return;
  if (noneMatch !== "*") throw new S3Error("NotImplemented", "If-None-Match of a write takes * alone.");
  if (isPresent) throw new S3Error("PreconditionFailed");
}
