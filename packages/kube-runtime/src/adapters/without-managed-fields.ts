import { closeBrace, closeBracket, comma, endOfItems, endOfString, openBrace, openBracket, quote } from "./json-bytes.ts";

const field = Buffer.from('"managedFields":[');
const objectKey = Buffer.from('"object":');
const metadataKey = Buffer.from('"metadata":');

/**
 * The text of a watch event without `object.metadata.managedFields`, which is a third of many objects and half of the work of parsing them.
 *
 * Where the field does not stand as every Kubernetes server writes it (no spaces, a list), the whole text comes back: leaving it out is thrift, and
 * who must not keep the field removes it from the parsed object. Nothing else is ever left out.
 */
export function withoutManagedFields(line: Buffer): string {
  const at = line.includes(field) ? placeOfField(line) : -1;
  if (at < 0) return line.toString("utf8");
  const end = endOfItems(line, at + field.length, line.length);
  const [before, behind] = [line[at - 1], line[end]];
  // One comma goes with it: the one behind, or that before the last field of all.
  if (behind === comma && line[end + 1] === quote && (before === openBrace || before === comma)) return without(line, at, end + 1);
  if (behind === closeBrace && before === comma) return without(line, at - 1, end);
  if (behind === closeBrace && before === openBrace) return without(line, at, end);
  return line.toString("utf8");
}

function without(line: Buffer, from: number, to: number): string {
  return line.toString("utf8", 0, from) + line.toString("utf8", to);
}

/** Where the field begins in `metadata` of the event's `object`, or -1: elsewhere it is somebody's own. */
function placeOfField(line: Buffer): number {
  let depth = 0;
  let isObject = false;
  let isMetadata = false;
  let index = 0;
  while (index < line.length) {
    const byte = line[index];
    if (byte === quote) {
      if (depth === 3 && isMetadata && isField(line, index)) return index;
      index = endOfString(line, index, line.length);
      continue;
    }
    if (byte === openBrace || byte === openBracket) {
      depth += 1;
      if (depth === 2) isObject = byte === openBrace && isBehindKey(line, index, objectKey);
      if (depth === 3) isMetadata = byte === openBrace && isObject && isBehindKey(line, index, metadataKey);
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
    }
    index += 1;
  }
  return -1;
}

function isField(line: Buffer, index: number): boolean {
  return index + field.length <= line.length && line.compare(field, 0, field.length, index, index + field.length) === 0;
}

function isBehindKey(line: Buffer, index: number, key: Buffer): boolean {
  const start = index - key.length;
  const before = line[start - 1];
  // In a longer key a backslash stands before the quotation mark.
  return start > 0 && (before === comma || before === openBrace) && line.compare(key, 0, key.length, start, index) === 0;
}
