/** The characters by which JSON is told apart, as bytes. In UTF-8 none of them is ever a part of another character. */
/** All spaces of JSON, and what may not stand in it at all, are this or less. */
const space = 32;
export const quote = 34;
export const comma = 44;
export const colon = 58;
export const openBracket = 91;
export const backslash = 92;
export const closeBracket = 93;
export const openBrace = 123;
export const closeBrace = 125;

/**
 * The place behind the value that begins at `at`, or `end` when it does not end before; `at` itself when a space is there, or whatever else begins no
 * value. Whether it is JSON is not looked at.
 */
export function endOfValue(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at];
  if (first === quote) return endOfString(bytes, at, end);
  if (first === openBrace || first === openBracket) return endOfItems(bytes, at + 1, end);
  for (let index = at; index < end; index += 1) {
    const byte = bytes[index] ?? 0;
    if (byte <= space || endsScalar(byte)) return index;
  }
  return end;
}

function endsScalar(byte: number): boolean {
  return (
    byte === comma ||
    byte === closeBrace ||
    byte === closeBracket ||
    byte === quote ||
    byte === colon ||
    byte === openBrace ||
    byte === openBracket
  );
}

/** The place behind the closing quotation mark of the string that opens at `at`, or `end`. */
export function endOfString(bytes: Uint8Array, at: number, end: number): number {
  let index = at + 1;
  while (index < end && bytes[index] !== quote) index += bytes[index] === backslash ? 2 : 1;
  return Math.min(index + 1, end);
}

/** The place behind the bracket that closes the object or the list whose items begin at `at`, or `end`. */
export function endOfItems(bytes: Uint8Array, at: number, end: number): number {
  let depth = 1;
  let index = at;
  while (index < end) {
    const byte = bytes[index];
    if (byte === quote) {
      index = endOfString(bytes, index, end);
      continue;
    }
    index += 1;
    if (byte === openBrace || byte === openBracket) depth += 1;
    else if (byte === closeBrace || byte === closeBracket) depth -= 1;
    if (depth === 0) return index;
  }
  return end;
}
