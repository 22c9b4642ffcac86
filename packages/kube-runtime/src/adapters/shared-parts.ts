import { backslash, closeBrace, colon, comma, endOfString, endOfValue, openBrace, openBracket, quote } from "./json-bytes.ts";
import { createPaths, type Path } from "./json-paths.ts";

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
 *
 * Where an object differed once it mostly differs again. These places are kept in one list of numbers: of thousands of objects that change in
 * turn none is in the processor's cache, and whatever lies apart is waited for.
 */

/** JSON of an object and what it says. */
export interface KnownJson {
  /** Its JSON is at the beginning; behind it there may be room. */
  bytes: Buffer;
  view: DataView;
  length: number;
  value: object;
  /** Start and end of each value that differed once and holds no others, in order. */
  readonly bounds: number[];
  /** Where each of them stands in `value`. */
  readonly paths: Path[];
  /** Objects inside that were looked through, the whole among them: each of their keys stands there once, without spaces. */
  readonly plain: Path[];
}

/** Forgets what was found out about the bytes, since others take their place. */
export function forgetPlaces({ bounds, paths, plain }: KnownJson): void {
  bounds.length = 0;
  paths.length = 0;
  plain.length = 0;
}

/** The text is too different, or not written as Kubernetes servers write: it must be parsed as a whole. The places of the known JSON are spoilt. */
export const unlike = Symbol("unlike");

const leftOut = "managedFields";
const leftOutKey = Buffer.from(`"${leftOut}"`);
/** Parsing more pieces than this costs more than the whole. */
const mostPieces = 24;
/** What changes in more places is looked for anew. */
const mostPlaces = 128;
const deepest = 32;
const firstPrintable = 32;
const noWay: Path["keys"] = [];
/** The next difference is mostly near; what is further away is compared in blocks, each of which costs the call of a function of Node. */
const nearBytes = 128;
const blockBytes = 512;

type Container = Record<string | number, unknown>;

/**
 * What `text` says from `start` to `end`, with everything that `known` says with the same bytes taken from its value: the value of an object, or
 * `unlike`. Where `known.value` lacks the `metadata.managedFields` of its JSON, so does the result. `view` shows `text`.
 *
 * The places of `known` are then those of the new text.
 */
export type ReadLike = (known: KnownJson, text: Buffer, view: DataView, start: number, end: number) => object | typeof unlike;

/** A reader; what it keeps between two calls is only room to work in, and the names of places. */
export function createReadLike(): ReadLike {
  const pathOf = createPaths();
  let old: Buffer = Buffer.alloc(0);
  let oldView: DataView = new DataView(old.buffer);
  let oldEnd = 0;
  let oldValue: object = {};
  let plain: Path[] = [];
  let text = old;
  let view = oldView;
  let begin = 0;
  let end = 0;
  /** How much further on the new text says the same. */
  let shift = 0;
  /** Up to this place of the old bytes the new ones are the same. */
  let same = 0;
  /** Behind the value that was read last, in the new text. */
  let behind = 0;
  /** Values that were read; for each, where the old one ended and the shift behind it. */
  let pieces = 0;
  const ends = new Int32Array(mostPieces);
  const shifts = new Int32Array(mostPieces);
  /** The copy of the whole, and the objects and lists that were copied on the way to the value that was set last. */
  let copy: Container | undefined;
  const copies: Container[] = [];
  let way = noWay;
  /** What `find` found. */
  let foundFrom = 0;
  let foundTo = 0;
  let foundPath = pathOf.whole;

  function compareFrom(oldAt: number, newAt: number): void {
    shift = newAt - oldAt;
    const stop = Math.min(oldEnd, end - shift);
    same = sameUpTo(oldAt, Math.min(stop, oldAt + nearBytes));
    if (same < oldAt + nearBytes) return;
    while (same + blockBytes <= stop && isSameBlock(same)) same += blockBytes;
    same = sameUpTo(same, stop);
  }

  /** The place of the first difference, or `stop`. */
  function sameUpTo(from: number, stop: number): number {
    let at = from;
    while (at <= stop - 8 && isSameWord(at) && isSameWord(at + 4)) at += 8;
    while (at < stop && old[at] === text[at + shift]) at += 1;
    return at;
  }

  function isSameWord(at: number): boolean {
    return oldView.getInt32(at) === view.getInt32(at + shift);
  }

  function isSameBlock(at: number): boolean {
    return old.compare(text, at + shift, at + shift + blockBytes, at, at + blockBytes) === 0;
  }

  /** What the new text says at `from`, to `behind`; `undefined` for what is left out. */
  function read(from: number, { isLeftOut }: Path): unknown {
    if (text[from] === quote) {
      let at = from + 1;
      let byte = text[at] ?? 0;
      while (at < end && byte !== quote && byte !== backslash && byte >= firstPrintable) byte = text[++at] ?? 0;
      if (at < end && byte === quote) {
        behind = at + 1;
        return isLeftOut ? undefined : text.toString("utf8", from + 1, at);
      }
    }
    behind = endOfValue(text, from, end);
    if (behind === from) return unlike;
    try {
      const value: unknown = JSON.parse(text.toString("utf8", from, behind));
      return isLeftOut ? undefined : value;
    } catch {
      return unlike; // whoever parses the whole says what is wrong
    }
  }

  /** Reads the value that stood between these places of the old bytes and began at `newFrom`, and compares on behind it. */
  function replace(path: Path, from: number, to: number, newFrom: number): boolean {
    if (pieces === mostPieces || (path.isManagedFields && isOtherManner(path, from, newFrom))) return false;
    const value = read(newFrom, path);
    if (value === unlike) return false;
    if (!path.isLeftOut) set(path.keys, value);
    compareFrom(to, behind);
    ends[pieces] = to;
    shifts[pieces] = shift;
    pieces += 1;
    // What ends with another byte is another value.
    return same > to;
  }

  /** Managed fields are left out where they are a list, and kept where they are anything else. */
  function isOtherManner({ isLeftOut }: Path, from: number, newFrom: number): boolean {
    return isLeftOut ? text[newFrom] !== openBracket : old[from] !== openBracket;
  }

  function set(keys: Path["keys"], value: unknown): void {
    const last = keys.length - 1;
    let container = (copy ??= copyOf(oldValue as Container));
    let isCopied = true;
    for (let depth = 0; depth < last; depth += 1) {
      const key = keys[depth] as string | number;
      isCopied &&= depth < way.length - 1 && way[depth] === key;
      const next: Container = isCopied ? (copies[depth] as Container) : copyOf(container[key] as Container);
      if (!isCopied) container[key] = copies[depth] = next;
      container = next;
    }
    container[keys[last] as string | number] = value;
    way = keys;
  }

  /** Where what stood at this place of the old bytes is in the new text. */
  function newPlaceOf(from: number): number {
    let last = pieces;
    while (last > 0 && (ends[last - 1] as number) > from) last -= 1;
    return from + (last === 0 ? begin : (shifts[last - 1] as number));
  }

  /** Finds the innermost value in which, or right behind which, the next difference is. False where it is not inside anything that could be read alone. */
  function find(): boolean {
    foundFrom = 0;
    foundTo = oldEnd;
    foundPath = pathOf.whole;
    let value: unknown = oldValue;
    for (let depth = 0; depth < deepest; depth += 1) {
      const [from, to, path] = [foundFrom, foundTo, foundPath];
      if (!isPlain(value, from, to, path) || !findMember(value, from, to, path)) {
        [foundFrom, foundTo, foundPath] = [from, to, path];
        break;
      }
      const first = old[foundFrom];
      if ((first !== openBrace && first !== openBracket) || same === foundFrom) break;
      value = foundPath.isLeftOut ? undefined : (value as Container)[foundPath.keys.at(-1) as string | number];
    }
    // The metadata hold managed fields, which whoever parses the whole leaves out.
    return foundPath !== pathOf.whole && foundPath !== pathOf.metadata;
  }

  /** Finds the value in an object or a list in which the next difference is, or behind which, when it may go on there. */
  function findMember(value: unknown, start: number, stop: number, path: Path): boolean {
    const isObject = old[start] === openBrace;
    let at = start + 1;
    for (let index = 0; at <= same && at < stop - 1; index += 1) {
      const keyAt = at;
      if (isObject) {
        at = endOfString(old, at, stop) + 1;
        if (old[keyAt] !== quote || old[at - 1] !== colon) return false;
      }
      const to = endOfValue(old, at, stop);
      // A space: values would be counted wrongly from here on.
      if (to === at) return false;
      if (same <= to) {
        // It is another key, or more or fewer of them.
        if (!isAt(at, to)) return false;
        const key = path.isLeftOut ? undefined : isObject ? keyFrom(value, keyAt, at - 1, path) : index;
        if (key === unlike) return false;
        foundFrom = at;
        foundTo = to;
        foundPath = pathOf.member(path, key);
        return true;
      }
      if (old[to] !== comma) return false;
      at = to + 1;
    }
    return false;
  }

  /** Whether the next difference is in this value, or behind it and may be its own. */
  function isAt(from: number, to: number): boolean {
    return from <= same && (same < to || isOpen(from));
  }

  /** Whether the value may go on behind its last byte, as numbers do. */
  function isOpen(at: number): boolean {
    const first = old[at];
    return first !== quote && first !== openBrace && first !== openBracket;
  }

  /** `undefined` for the managed fields where they are left out. */
  function keyFrom(value: unknown, from: number, to: number, path: Path): string | undefined | typeof unlike {
    const key = old.toString("utf8", from + 1, to - 1);
    // The bytes of a key with a backslash may be those of another key.
    if (key.includes("\\")) return unlike;
    if (Object.hasOwn(value as object, key)) return key;
    return path === pathOf.metadata && isLeftOutKey(from, to) ? undefined : unlike;
  }

  /** Whether each key of an object stands once in the old bytes, without spaces, and nothing else does. */
  function isPlain(value: unknown, start: number, stop: number, path: Path): boolean {
    if (path.isLeftOut || old[start] === openBracket || plain.includes(path)) return true;
    if (!isOnlyKeysOf(value as object, start, stop, path)) return false;
    plain.push(path);
    return true;
  }

  function isOnlyKeysOf(value: object, start: number, stop: number, path: Path): boolean {
    let keys = Object.keys(value).length;
    let mayLack = path === pathOf.metadata && !Object.hasOwn(value, leftOut);
    let at = start + 1;
    while (at < stop - 1) {
      if (old[at] !== quote) return false;
      const behindKey = endOfString(old, at, stop);
      if (old[behindKey] !== colon) return false;
      if (mayLack && isLeftOutKey(at, behindKey)) mayLack = false;
      else keys -= 1;
      const to = endOfValue(old, behindKey + 1, stop);
      if (old[to] !== comma) return old[to] === closeBrace && to === stop - 1 && keys === 0;
      at = to + 1;
    }
    return false;
  }

  function isLeftOutKey(from: number, to: number): boolean {
    return to - from === leftOutKey.length && old.compare(leftOutKey, 0, leftOutKey.length, from, to) === 0;
  }

  return (known, newText, newView, start, stop) => {
    const { bounds, paths } = known;
    old = known.bytes;
    oldView = known.view;
    oldEnd = known.length;
    oldValue = known.value;
    plain = known.plain;
    text = newText;
    view = newView;
    begin = start;
    end = stop;
    pieces = 0;
    copy = undefined;
    way = noWay;
    // Also where nothing differs: what was remembered must be one object.
    if (plain.length === 0 && (old[0] !== openBrace || !isPlain(oldValue, 0, oldEnd, pathOf.whole))) return unlike;
    compareFrom(0, start);
    let place = 0;
    for (;;) {
      const by = shift - begin;
      // What is passed says the same, further on.
      for (; place < paths.length && (bounds[2 * place + 1] as number) < same; place += 1) {
        bounds[2 * place] = (bounds[2 * place] as number) + by;
        bounds[2 * place + 1] = (bounds[2 * place + 1] as number) + by;
      }
      if (same === oldEnd) break;
      if (place < paths.length && isAt(bounds[2 * place] as number, bounds[2 * place + 1] as number)) {
        const [from, to] = [bounds[2 * place] as number, bounds[2 * place + 1] as number];
        if (!replace(paths[place] as Path, from, to, from + shift)) return unlike;
        bounds[2 * place] = from + by;
      } else {
        if (!find()) return unlike;
        const newFrom = newPlaceOf(foundFrom);
        if (!replace(foundPath, foundFrom, foundTo, newFrom)) return unlike;
        // A value that holds others may have had places inside.
        let inside = place;
        while (place > 0 && (bounds[2 * place - 2] as number) >= newFrom - begin) place -= 1;
        while (inside < paths.length && (bounds[2 * inside] as number) < foundTo) inside += 1;
        bounds.splice(2 * place, 2 * (inside - place), newFrom - begin, 0);
        paths.splice(place, inside - place, foundPath);
      }
      bounds[2 * place + 1] = behind - begin;
      const first = text[begin + (bounds[2 * place] as number)];
      if (first === openBrace || first === openBracket) {
        // What it holds now is looked through when something of it differs.
        bounds.splice(2 * place, 2);
        paths.splice(place, 1);
        plain.length = 1;
      } else {
        place += 1;
      }
    }
    // The end of the old bytes must be that of the new ones: nothing may stand behind it.
    if (oldEnd + shift !== stop) return unlike;
    known.length = stop - start;
    if (paths.length > mostPlaces) bounds.length = paths.length = 0;
    return copy ?? oldValue;
  };
}

function copyOf(value: Container): Container {
  return Array.isArray(value) ? ([...(value as unknown[])] as unknown as Container) : { ...value };
}
