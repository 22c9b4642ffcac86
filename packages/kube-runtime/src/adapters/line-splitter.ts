import { KubeTransportFailure } from "./transport-failure.ts";

const newline = 10;
const carriageReturn = 13;
/** etcd stores at most 1.5 MiB per object; a line of this size is not a watch event any more. */
const longestLineBytes = 64 * 1024 * 1024;

/**
 * Splits a stream of chunks into lines, those of one chunk together, so that a waiting reader costs nothing for each line. Lines stay bytes: a
 * character that two chunks share survives, and whoever leaves a part of a line out never decodes it. Empty lines are left out; a last line without
 * an end is a broken stream.
 *
 * @throws KubeTransportFailure when the stream ends in the middle of a line
 */
export async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly Buffer[]> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const tail = chunk.subarray(start, end);
      const line = parts.length === 0 ? tail : Buffer.concat([...parts, tail]);
      parts = [];
      size = 0;
      start = end + 1;
      if (line.length > 0 && !(line.length === 1 && line[0] === carriageReturn)) lines.push(line);
    }
    if (lines.length > 0) yield lines;
    if (start < chunk.length) {
      parts.push(chunk.subarray(start));
      size += chunk.length - start;
      if (size > longestLineBytes)
        throw new KubeTransportFailure(`an event of the watch is longer than ${longestLineBytes} bytes`, "TOO_LONG");
    }
  }
  if (size > 0) throw new KubeTransportFailure("the watch broke off in the middle of an event", "INCOMPLETE");
}
