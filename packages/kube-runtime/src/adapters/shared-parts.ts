import { backslash, closeBrace, colon, comma, endOfString, endOfValue, openBrace, openBracket, quote } from "./json-bytes.ts";

/*
 * An object that changes again and again says mostly what it said before. Its last JSON is remembered with the value that was parsed from it, and
 * the next JSON is laid beside it:
 *
 *   remembered  {"metadata":{"name":"a","resourceVersion":"7"},"spec":{"replicas":3},"status":{"ready":1}}
 *   new         {"metadata":{"name":"a","resourceVersion":"19"},"spec":{"replicas":3},"status":{"ready":1}}
 *               ------- the same bytes ----------------- ^^^^ --- the same bytes, two places further on -----
 *
 * Only the value around each difference is parsed; what holds it (here `metadata` and the whole) is copied, and all else of the remembered value
 * is used again. Each byte of the new text is either the same as a remembered one or inside a value that JSON.parse accepted, and a value is used
 * again only when the byte behind it is the same too, so the result is what JSON.parse gives, without guessing.
 */

/** JSON of an object and what it says. */
export interface KnownJson {
  /** Its JSON is at the beginning; behind it there may be room. */
  bytes: Buffer;
  view: DataView;
  value: object;
  /** Places of what changed before, true for `bytes`. */
  whole: Part;
  /** How many they are, or were. */
  places: number;
}

/** A value inside an object or a list that differed once. Those that never did have no place. */
export interface Part {
  /** Its key or its index; `undefined` where no value is kept: `managedFields` that were left out, and all inside of them. */
  readonly key: string | number | undefined;
  /** Start and end, counted from the first byte of what it stands in, so that only neighbours move with it. */
  from: number;
  to: number;
  /** Inside of it, in order; `undefined` before the first look. */
  parts: Part[] | undefined;
}

/** Part that stands for all of a JSON of `length` bytes. */
export function wholeOf(length: number): Part {
  return { key: undefined, from: 0, to: length, parts: undefined };
}

/** The text is too different, or not written as Kubernetes servers write: it must be parsed as a whole. The places of the known JSON are spoilt. */
export const unlike = Symbol("unlike");

const leftOut = "managedFields";
const leftOutKey = Buffer.from(`"${leftOut}"`);
/** Parsing more pieces than this costs more than the whole. */
const mostPieces = 24;
/** Places in one object or list: more are not gone through for each event. */
const mostParts = 64;
/** Places in all: what changes in more of them is looked for anew. */
const mostPlaces = 256;
const deepest = 32;
const firstPrintable = 32;

type Container = Record<string | number, unknown>;

/**
 * What `text` says from `start` to `end`, with everything that `known` says with the same bytes taken from its value: the value of an object, or
 * `unlike`. Where `known.value` lacks the `metadata.managedFields` of its JSON, so does the result. `view` shows `text`.
 *
 * The places of `known` are then those of the new text.
 */
export type ReadLike = (known: KnownJson, text: Buffer, view: DataView, start: number, end: number) => object | typeof unlike;

/** A reader; what it keeps between two calls is only room to work in. */
export function createReadLike(): ReadLike {
  let old: Buffer = Buffer.alloc(0);
  let oldView: DataView = new DataView(old.buffer);
  let oldEnd = 0;
  let text = old;
  let view = oldView;
  let end = 0;
  /** How much further on the new text says the same. */
  let shift = 0;
  /** Up to this place of the old bytes the new ones are the same. */
  let same = 0;
  let pieces = 0;
  let places = 0;

  function compareFrom(oldAt: number, newAt: number): void {
    const length = Math.min(oldEnd - oldAt, end - newAt);
    let count = 0;
    while (count <= length - 4 && oldView.getInt32(oldAt + count) === view.getInt32(newAt + count)) count += 4;
    while (count < length && oldView.getUint8(oldAt + count) === view.getUint8(newAt + count)) count += 1;
    shift = newAt - oldAt;
    same = oldAt + count;
  }

  function hasDifference(before: number): boolean {
    return same < before;
  }

  /** Reads the object or the list at `start` of the old bytes, in which the next difference is. */
  function readWithin(whole: Part, value: unknown, start: number, depth: number, isMetadata: boolean): unknown {
    const stop = start + whole.to - whole.from;
    const parts = (whole.parts ??= isPlain(value, start, stop, isMetadata) ? [] : undefined);
    if (parts === undefined || parts.length > mostParts) return unlike;
    let copy: Container | undefined;
    let moved = 0;
    let index = 0;
    /** Behind the last value that was passed, and its key. */
    let passed = start;
    let passedKey: Part["key"];
    while (hasDifference(stop)) {
      const next = parts[index];
      if (next !== undefined && start + next.to < same) {
        passed = start + next.to;
        passedKey = next.key;
        next.from += moved;
        next.to += moved;
        index += 1;
        continue;
      }
      const isFound = next !== undefined && start + next.from <= same;
      const part = isFound ? next : find(value, start, stop, passed, passedKey, isMetadata);
      if (part === undefined) return unlike;
      if (!isFound) {
        parts.splice(index, 0, part);
        places += 1;
      }
      const { key } = part;
      const shiftBefore = shift;
      const before = key === undefined ? undefined : (value as Container)[key];
      passed = start + part.to;
      passedKey = key;
      const after = readPart(part, before, start + part.from, depth, isMetadata);
      if (after === unlike) return unlike;
      part.from += moved;
      moved += shift - shiftBefore;
      part.to += moved;
      index += 1;
      if (key === undefined || Object.is(after, before)) continue;
      copy ??= copyOf(value as Container);
      copy[key] = after;
    }
    if (moved !== 0) moveFrom(parts, index, moved);
    return copy ?? value;
  }

  /** Reads the value at `from` of the old bytes, in which or right behind which the next difference is, and compares on behind it. */
  function readPart(part: Part, before: unknown, from: number, depth: number, isInMetadata: boolean): unknown {
    const to = from + part.to - part.from;
    const newFrom = from + shift;
    const first = old[from];
    const isMetadata = depth === 0 && part.key === "metadata";
    if ((first === openBrace || first === openBracket) && text[newFrom] === first && depth < deepest) {
      const after = readWithin(part, before, from, depth + 1, isMetadata);
      if (after !== unlike) return after;
    }
    part.parts = undefined;
    // They hold managed fields, which whoever parses the whole leaves out.
    if (isMetadata) return unlike;
    pieces += 1;
    if (pieces > mostPieces || (isInMetadata && isOtherManner(part, from, newFrom))) return unlike;
    const newTo = endOfValue(text, newFrom, end);
    if (newTo === newFrom) return unlike;
    const after = parsed(newFrom, newTo);
    compareFrom(to, newTo);
    return part.key === undefined && after !== unlike ? undefined : after;
  }

  /** Managed fields are left out where they are a list, and kept where they are anything else. */
  function isOtherManner({ key }: Part, from: number, newFrom: number): boolean {
    return key === undefined ? text[newFrom] !== openBracket : key === leftOut && old[from] !== openBracket;
  }

  function parsed(from: number, to: number): unknown {
    if (isPlainString(from, to)) return text.toString("utf8", from + 1, to - 1);
    try {
      return JSON.parse(text.toString("utf8", from, to));
    } catch {
      return unlike; // whoever parses the whole says what is wrong
    }
  }

  function isPlainString(from: number, to: number): boolean {
    if (text[from] !== quote || text[to - 1] !== quote || to - from < 2) return false;
    for (let at = from + 1; at < to - 1; at += 1) {
      const byte = text[at] ?? 0;
      if (byte === backslash || byte < firstPrintable) return false;
    }
    return true;
  }

  /** Whether each key of `value` stands once in the old bytes, without spaces, and nothing else does. */
  function isPlain(value: unknown, start: number, stop: number, isMetadata: boolean): boolean {
    if (value === undefined || old[start] === openBracket) return true;
    let keys = Object.keys(value as object).length;
    let mayLack = isMetadata && !Object.hasOwn(value as object, leftOut);
    let at = start + 1;
    while (at < stop - 1) {
      if (old[at] !== quote) return false;
      const behindKey = endOfString(old, at, stop);
      if (old[behindKey] !== colon) return false;
      if (mayLack && isLeftOut(at, behindKey)) mayLack = false;
      else keys -= 1;
      const to = endOfValue(old, behindKey + 1, stop);
      if (old[to] !== comma) return old[to] === closeBrace && to === stop - 1 && keys === 0;
      at = to + 1;
    }
    return false;
  }

  function isLeftOut(from: number, to: number): boolean {
    return to - from === leftOutKey.length && old.compare(leftOutKey, 0, leftOutKey.length, from, to) === 0;
  }

  /** The place of the value in which, or right behind which, the next difference is; behind `passed`, where the value of `passedKey` ends. */
  function find(
    value: unknown,
    start: number,
    stop: number,
    passed: number,
    passedKey: Part["key"],
    isMetadata: boolean,
  ): Part | undefined {
    const isObject = old[start] === openBrace;
    let at = passed + 1;
    for (let index = typeof passedKey === "number" ? passedKey + 1 : 0; at <= same && at < stop - 1; index += 1) {
      const keyAt = at;
      if (isObject) {
        at = endOfString(old, at, stop) + 1;
        if (old[keyAt] !== quote || old[at - 1] !== colon) return undefined;
      }
      const to = endOfValue(old, at, stop);
      // A space: values would be counted wrongly from here on.
      if (to === at) return undefined;
      if (same <= to) {
        if (same < at) return undefined; // it is another key
        const key = value === undefined ? undefined : isObject ? keyFrom(value, keyAt, at - 1, isMetadata) : index;
        return key === unlike ? undefined : { key, from: at - start, to: to - start, parts: undefined };
      }
      if (old[to] !== comma) return undefined;
      at = to + 1;
    }
    return undefined;
  }

  function keyFrom(value: unknown, from: number, to: number, isMetadata: boolean): string | undefined | typeof unlike {
    const key = old.toString("utf8", from + 1, to - 1);
    // The bytes of a key with a backslash may be those of another key.
    if (key.includes("\\")) return unlike;
    if (Object.hasOwn(value as object, key)) return key;
    return isMetadata && isLeftOut(from, to) ? undefined : unlike;
  }

  return (known, newText, newView, start, stop) => {
    old = known.bytes;
    oldView = known.view;
    oldEnd = known.whole.to;
    text = newText;
    view = newView;
    end = stop;
    pieces = 0;
    places = known.places;
    // Also where nothing differs: what was remembered must be one object.
    if (known.whole.parts === undefined && (old[0] !== openBrace || !isPlain(known.value, 0, oldEnd, false))) return unlike;
    compareFrom(0, start);
    const value = same === oldEnd ? known.value : readWithin(known.whole, known.value, 0, 0, false);
    // The end of the old bytes must be that of the new ones: nothing may stand behind it.
    if (value === unlike || oldEnd + shift !== stop) return unlike;
    known.whole.to = stop - start;
    if (places > mostPlaces) known.whole.parts = undefined;
    known.places = places > mostPlaces ? 0 : places;
    return value as object;
  };
}

function moveFrom(parts: readonly Part[], index: number, by: number): void {
  for (let at = index; at < parts.length; at += 1) {
    const part = parts[at];
    if (part === undefined) return;
    part.from += by;
    part.to += by;
  }
}

function copyOf(value: Container): Container {
  return Array.isArray(value) ? ([...(value as unknown[])] as unknown as Container) : { ...value };
}
