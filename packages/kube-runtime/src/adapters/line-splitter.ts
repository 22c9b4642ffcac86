import { KubeTransportFailure } from "./transport-failure.ts";

const newline = 10;
/** etcd stores at most 1.5 MiB per object; a line of this size is not a watch event any more. */
const longestLineBytes = 64 * 1024 * 1024;

/**
 * Splits a stream of chunks into lines. Chunks are kept as buffers and a line is decoded only once it is complete, so that a character
 * that two chunks share survives and no string is built twice. Empty lines are left out; a last line without an end is a broken stream.
 *
 * @throws KubeTransportFailure when the stream ends in the middle of a line
 */
export async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const tail = chunk.subarray(start, end);
      const line = parts.length === 0 ? tail.toString("utf8") : Buffer.concat([...parts, tail]).toString("utf8");
      parts = [];
      size = 0;
      start = end + 1;
      if (line.length > 0 && line !== "\r") yield line;
    }
    if (start < chunk.length) {
      parts.push(chunk.subarray(start));
      size += chunk.length - start;
      if (size > longestLineBytes)
        throw new KubeTransportFailure(`an event of the watch is longer than ${longestLineBytes} bytes`, "TOO_LONG");
    }
  }
  if (size > 0) throw new KubeTransportFailure("the watch broke off in the middle of an event", "INCOMPLETE");
}
