/** The first element of DER bytes. */
export interface DerElement {
  readonly tagClass: number;
  readonly tag: number;
  readonly isCompound: boolean;
  /** As its header says. */
  readonly length: number;
  /** Bytes of the header. */
  readonly headerLength: number;
  /** What there is of its content. */
  readonly content: Uint8Array;
  /** Bytes behind it. */
  readonly rest: Uint8Array;
}

const sequence = 16;
const integer = 2;

/** Reads the header of the first element, whose content may be cut off. `undefined` where there are no bytes. */
export function readDer(bytes: Uint8Array): DerElement | undefined {
  const [first, second = 0] = bytes;
  if (first === undefined) return undefined;
  const long = second & 0x80 ? second & 0x7f : 0;
  const headerLength = 2 + long;
  const length = long === 0 ? second : bytes.subarray(2, headerLength).reduce((sum, byte) => sum * 256 + byte, 0);
  return {
    tagClass: first >> 6,
    tag: first & 0x1f,
    isCompound: (first & 0x20) !== 0,
    length,
    headerLength,
    content: bytes.subarray(headerLength, headerLength + length),
    rest: bytes.subarray(headerLength + length),
  };
}

/** True for a list whose content is all there. */
export function isWholeSequence(element: DerElement | undefined): element is DerElement {
  return element !== undefined && element.tag === sequence && element.isCompound && element.content.length === element.length;
}

/** Why Go cannot read bytes as a list that begins with a number, for the first reasons there are; `undefined` when it gets beyond them. */
export function derRefusal(bytes: Uint8Array, name: string): string | undefined {
  const outer = readDer(bytes);
  if (outer === undefined) return truncated;
  if (outer.tag !== sequence || outer.tagClass !== 0 || !outer.isCompound) return mismatch(sequence, outer, name);
  if (outer.content.length < outer.length) return "asn1: syntax error: data truncated";
  const inner = readDer(outer.content);
  if (inner === undefined) return truncated;
  return inner.tag === integer && inner.tagClass === 0 ? undefined : mismatch(integer, inner, "int");
}

const truncated = "asn1: syntax error: sequence truncated";

function mismatch(wanted: number, { tagClass, tag, length, isCompound, headerLength }: DerElement, name: string): string {
  const found = `{class:${tagClass} tag:${tag} length:${length} isCompound:${isCompound}}`;
  const options =
    "{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false}";
  return `asn1: structure error: tags don't match (${wanted} vs ${found}) ${options} ${name} @${headerLength}`;
}
