import { createHash } from "node:crypto";
import { S3Error } from "./s3-error.ts";
import { chunkSignature, isSame, trailerSignature, type ChunkSigner } from "./signature.ts";

/** A chunk's line holds a length and a signature; a trailer's a name and a checksum. Bytes. */
const LONGEST_LINE = 1024;
const MOST_TRAILERS = 8;

/** How a body in chunks is checked. */
export interface ChunksExpected {
  /** Absent: chunks are not signed. */
  readonly signer?: ChunkSigner;
  readonly hasTrailer: boolean;
  /** Bytes of all chunks together: `x-amz-decoded-content-length`. */
  readonly length: number;
}

/**
 * The bytes inside a body of `aws-chunked`, and in the end the lines behind it. A chunk is passed on while it comes: nothing may count on it before the
 * end, as its signature is known only then.
 *
 * @returns trailers by name in lower case
 * @throws S3Error `IncompleteBody`, `SignatureDoesNotMatch`, `InvalidRequest`
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html
 */
export async function* decodeChunks(
  source: AsyncIterable<Uint8Array>,
  { signer, hasTrailer, length }: ChunksExpected,
): AsyncGenerator<Uint8Array, ReadonlyMap<string, string>> {
  const reader = new Reader(source);
  let before = signer?.seed ?? "";
  let total = 0;
  for (;;) {
    const { size, signature } = readChunkLine(await reader.line());
    total += size;
    if (total > length) throw new S3Error("IncompleteBody", "The chunks hold more bytes than x-amz-decoded-content-length says.");
    const hash = signer === undefined ? undefined : createHash("sha256");
    for await (const piece of reader.take(size)) {
      hash?.update(piece);
      yield piece;
    }
    if (signer !== undefined && hash !== undefined) {
      const expected = chunkSignature(signer, before, hash.digest("hex"));
      if (signature === undefined || !isSame(signature, expected)) throw new S3Error("SignatureDoesNotMatch");
      before = expected;
    }
    if (size === 0) break;
    if ((await reader.line()) !== "") throw new S3Error("InvalidRequest", "A chunk is longer than its line says.");
  }
  if (total !== length) throw new S3Error("IncompleteBody");
  const trailers = hasTrailer ? await readTrailers(reader, signer, before) : new Map<string, string>();
  if (!hasTrailer && (await reader.line()) !== "")
    throw new S3Error("InvalidRequest", "Lines follow the last chunk that nobody announced.");
  await reader.demandEnd();
  return trailers;
}

function readChunkLine(line: string): { readonly size: number; readonly signature: string | undefined } {
  const match = /^([0-9a-fA-F]{1,12})(?:;chunk-signature=([0-9a-f]{64}))?$/.exec(line);
  if (match?.[1] === undefined) throw new S3Error("InvalidRequest", "A chunk does not begin with its length.");
  return { size: Number.parseInt(match[1], 16), signature: match[2] };
}

async function readTrailers(reader: Reader, signer: ChunkSigner | undefined, before: string): Promise<ReadonlyMap<string, string>> {
  const trailers = new Map<string, string>();
  let signed = "";
  let signature: string | undefined;
  for (let line = await reader.line(); line !== ""; line = await reader.line()) {
    const colon = line.indexOf(":");
    const [name, value] = [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    if (colon < 1 || trailers.size >= MOST_TRAILERS) throw new S3Error("InvalidRequest", "What follows the last chunk is no trailer.");
    if (name === "x-amz-trailer-signature") signature = value;
    else {
      trailers.set(name, value);
      signed += `${name}:${value}\n`;
    }
  }
  if (signer !== undefined && (signature === undefined || !isSame(signature, trailerSignature(signer, before, signed))))
    throw new S3Error("SignatureDoesNotMatch");
  return trailers;
}

/** Lines and counted bytes in turn from pieces of any size. */
class Reader {
  readonly #source: AsyncIterator<Uint8Array>;
  #held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Without its line end. */
  async line(): Promise<string> {
    for (;;) {
      const end = this.#held.indexOf("\r\n");
      if (end > LONGEST_LINE || (end === -1 && this.#held.length > LONGEST_LINE))
        throw new S3Error("InvalidRequest", "A line between the chunks is too long.");
      if (end !== -1) {
        const line = this.#held.toString("latin1", 0, end);
        this.#held = this.#held.subarray(end + 2);
        return line;
      }
      const next = await this.#source.next();
      if (next.done === true) throw new S3Error("IncompleteBody");
      this.#held = Buffer.concat([this.#held, next.value]);
    }
  }

  async *take(size: number): AsyncGenerator<Uint8Array> {
    for (let left = size; left > 0;) {
      if (this.#held.length === 0) {
        const next = await this.#source.next();
        if (next.done === true) throw new S3Error("IncompleteBody");
        this.#held = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
      }
      const piece = this.#held.subarray(0, left);
      this.#held = this.#held.subarray(piece.length);
      left -= piece.length;
      if (piece.length > 0) yield piece;
    }
  }

  async demandEnd(): Promise<void> {
    for (let isEnd = this.#held.length === 0; ;) {
      if (!isEnd) throw new S3Error("InvalidRequest", "Bytes follow the end of the last chunk.");
      const next = await this.#source.next();
      if (next.done === true) return;
      isEnd = next.value.length === 0;
    }
  }
}
