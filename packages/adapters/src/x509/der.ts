/**
 * DER, as far as certificates need it: written from the inside out, each value as the bytes that it is, and read one value after another.
 *
 * @see ITU-T X.690 chapters 8 and 10
 */

/** Tags of what certificates consist of. */
export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Tag of a field that a type numbers: `[number]`. */
export function fieldTag(number: number, isConstructed: boolean): number {
  return 0x80 | (isConstructed ? 0x20 : 0) | number;
}

/** One value: its tag, the length of what it holds, and that. */
export function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const size = content.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(size)]), ...content]);
}

/** Lengths up to 127 are a byte, longer ones as many bytes as they need behind their number. */
function lengthBytes(size: number): readonly number[] {
  if (size < 0x80) return [size];
  const bytes: number[] = [];
  for (let rest = size; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

export function sequence(...content: readonly Uint8Array[]): Buffer {
  return der(tags.sequence, ...content);
}

/** A positive integer from its bytes, most significant first: the first bit is its sign, and it is written no longer than needed. */
export function positiveInteger(bytes: Uint8Array): Buffer {
  const from = bytes.findIndex((byte) => byte !== 0);
  const plain = from === -1 ? Buffer.from([0]) : Buffer.from(bytes.subarray(from));
  return der(tags.integer, (plain[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), plain]) : plain);
}

/** `2.5.29.15`: the first two numbers share a byte, the others have seven bits in each. */
export function objectIdentifier(text: string): Buffer {
  const [first = 0, second = 0, ...others] = text.split(".").map(Number);
  return der(tags.objectIdentifier, Buffer.from([first * 40 + second, ...others.flatMap((number) => inSevenBits(number))]));
}

function inSevenBits(number: number): readonly number[] {
  const bytes = [number & 0x7f];
  for (let rest = number >>> 7; rest > 0; rest >>>= 7) bytes.unshift(0x80 | (rest & 0x7f));
  return bytes;
}

/** Whole bytes as bits. */
export function bitString(bytes: Uint8Array): Buffer {
  return der(tags.bitString, Buffer.from([0]), bytes);
}

/** Named bits, the first of them the highest: no bit that is not set stands at the end. At most eight of them. */
export function namedBits(numbers: readonly number[]): Buffer {
  const byte = numbers.reduce((sum, number) => sum | (0x80 >> number), 0);
  return der(tags.bitString, Buffer.from([7 - Math.max(...numbers), byte]));
}

/** Seconds count. Years from 2050 on need four digits, earlier ones must have two (RFC 5280 4.1.2.5). */
export function time(at: number): Buffer {
  const digits = `${new Date(at).toISOString().slice(0, 19).replaceAll(/\D/g, "")}Z`;
  return digits >= "2050" ? der(tags.generalizedTime, Buffer.from(digits)) : der(tags.utcTime, Buffer.from(digits.slice(2)));
}

/** A value in its place. */
export interface DerValue {
  readonly tag: number;
  /** Tag and length included. */
  readonly whole: Buffer;
  readonly content: Buffer;
}

/** The values in `bytes`, one after another. For what OpenSSL has read before: an end that comes too early is cut, not found out. */
export function derValues(bytes: Buffer): readonly DerValue[] {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = bytes[at + 1] ?? 0;
    const digits = length < 0x80 ? 0 : length & 0x7f;
    const size = digits === 0 ? length : bytes.readUIntBE(at + 2, digits);
    const from = at + 2 + digits;
    values.push({ tag: bytes[at] ?? 0, whole: bytes.subarray(at, from + size), content: bytes.subarray(from, from + size) });
    at = from + size;
  }
  return values;
}
