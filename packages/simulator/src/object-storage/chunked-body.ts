import { S3Error } from "./s3-error.ts";

/** What says in `x-amz-content-sha256` that a body comes in chunks that are not signed, with a trailer. */
export const UNSIGNED_CHUNKS = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
/** A chunk's line holds a length, a trailer's a name and a checksum. Bytes. */
const LONGEST_LINE = 1024;

/**
 * The bytes inside a body of `aws-chunked`. Its one trailer is passed on once all of them have come.
 *
 * @throws S3Error `IncompleteBody`, `InvalidRequest`, `MalformedTrailerError`
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html
 */
export async function* decodeChunks(
  source: AsyncIterable<Uint8Array>,
  onTrailer: (name: string, value: string) => void,
): AsyncGenerator<Uint8Array> {
  const pieces = source[Symbol.asyncIterator]();
  let held = Buffer.alloc(0);
  const readMore = async (): Promise<void> => {
    const next = await pieces.next();
    if (next.done === true) throw new S3Error("IncompleteBody");
    held = Buffer.concat([held, next.value]);
  };
  const readLine = async (): Promise<string> => {
    let end = held.indexOf("\r\n");
    for (; end === -1 && held.length <= LONGEST_LINE; end = held.indexOf("\r\n")) await readMore();
    if (end === -1 || end > LONGEST_LINE) throw new S3Error("InvalidRequest", "A line between the chunks is too long.");
    const line = held.toString("latin1", 0, end);
    held = held.subarray(end + 2);
    return line;
  };
  try {
    for (;;) {
      const line = await readLine();
      if (!/^[0-9a-fA-F]{1,12}$/.test(line)) throw new S3Error("InvalidRequest", "A chunk does not begin with its length.");
      let left = Number.parseInt(line, 16);
      if (left === 0) break;
      while (left > 0) {
        if (held.length === 0) await readMore();
        const piece = held.subarray(0, left);
        held = held.subarray(piece.length);
        left -= piece.length;
        yield piece;
      }
      if ((await readLine()) !== "") throw new S3Error("InvalidRequest", "A chunk is longer than its line says.");
    }
    const [name = "", value = ""] = (await readLine()).split(":");
    onTrailer(name.trim().toLowerCase(), value.trim());
    if ((await readLine()) !== "" || held.length > 0 || (await pieces.next()).done !== true) throw new S3Error("MalformedTrailerError");
  } finally {
    // Lets the source go: the server drains a body that was refused.
    await pieces.return?.();
  }
}
