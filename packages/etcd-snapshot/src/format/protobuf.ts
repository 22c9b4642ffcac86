/** One field of a protobuf message: a number, or where its bytes are. */
export interface Field {
  readonly number: number;
  /** Of a varint; 0 for other types. Not exact above 2^53. */
  readonly value: number;
  /** Of a length-delimited field; `undefined` for other types. */
  readonly bytes: Uint8Array | undefined;
}

/**
 * Fields of a message in their order, until it ends or breaks: then `undefined` comes once, last.
 *
 * Only what is asked for is decoded: a megabyte of a value costs nothing.
 */
export function* fieldsOf(message: Uint8Array): Generator<Field | undefined, void> {
  let at = 0;
  while (at < message.length) {
    const tag = readVarint(message, at);
    if (tag === undefined) return yield undefined;
    at = tag.end;
    const number = Math.floor(tag.value / 8);
    const type = tag.value % 8;
    if (number === 0) return yield undefined;
    if (type === 0) {
      const varint = readVarint(message, at);
      if (varint === undefined) return yield undefined;
      at = varint.end;
      yield { number, value: varint.value, bytes: undefined };
    } else if (type === 2) {
      const length = readVarint(message, at);
      if (length === undefined || length.value > message.length - length.end) return yield undefined;
      at = length.end + length.value;
      yield { number, value: 0, bytes: message.subarray(length.end, at) };
    } else if (type === 1 || type === 5) {
      at += type === 1 ? 8 : 4;
      if (at > message.length) return yield undefined;
      yield { number, value: 0, bytes: undefined };
    } else return yield undefined;
  }
}

/** `undefined` where it does not end within ten bytes or the message. */
export function readVarint(bytes: Uint8Array, from: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  let factor = 1;
  for (let at = from; at < Math.min(bytes.length, from + 10); at += 1) {
    const byte = bytes[at] ?? 0;
    value += (byte & 0x7f) * factor;
    factor *= 128;
    if (byte < 0x80) return { value, end: at + 1 };
  }
  return undefined;
}

/** Pieces of a message that is written; fields of value 0 and empty bytes are left out, as protobuf 3 does. */
export function varintField(number: number, value: number | bigint): Uint8Array {
  if (BigInt(value) === 0n) return new Uint8Array(0);
  return Uint8Array.from([...varint(number * 8), ...varint(value)]);
}

export function bytesField(number: number, bytes: Uint8Array): readonly Uint8Array[] {
  return bytes.length === 0 ? [] : [Uint8Array.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes];
}

function varint(value: number | bigint): number[] {
  const bytes: number[] = [];
  if (typeof value === "number") {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
    bytes.push(rest);
    return bytes;
  }
  let rest = BigInt.asUintN(64, value);
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) + 128);
  bytes.push(Number(rest));
  return bytes;
}
