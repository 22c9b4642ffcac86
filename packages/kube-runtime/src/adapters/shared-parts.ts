import { backslash, endOfValue, openBrace, openBracket, quote } from "./json-bytes.ts";
import { JsonComparison } from "./json-comparison.ts";
import { JsonCopy } from "./json-copy.ts";
import { JsonFinder } from "./json-finder.ts";
import { createPaths, type Path } from "./json-paths.ts";
import type { KnownJson } from "./known-json.ts";

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

/** The text is too different, or not written as Kubernetes servers write: it must be parsed as a whole. The places of the known JSON are spoilt. */
export const unlike = Symbol("unlike");

/** What changes in more places is looked for anew. */
const mostPlaces = 128;
const firstPrintable = 32;

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
  const comparison = new JsonComparison();
  const finder = new JsonFinder(comparison, pathOf);
  const copy = new JsonCopy();
  let old: Buffer = Buffer.alloc(0);
  let text = old;
  let end = 0;
  /** Behind the value that was read last, in the new text. */
  let behind = 0;

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
    if (comparison.isFull || (path.isManagedFields && isOtherManner(path, from, newFrom))) return false;
    const value = read(newFrom, path);
    if (value === unlike) return false;
    if (!path.isLeftOut) copy.set(path.keys, value);
    comparison.goOn(to, behind);
    // What ends with another byte is another value.
    return comparison.same > to;
  }

  /** Managed fields are left out where they are a list, and kept where they are anything else. */
  function isOtherManner({ isLeftOut }: Path, from: number, newFrom: number): boolean {
    return isLeftOut ? text[newFrom] !== openBracket : old[from] !== openBracket;
  }

  return (known, newText, view, start, stop) => {
    const { bounds, paths, plain, length: oldEnd } = known;
    old = known.bytes;
    text = newText;
    end = stop;
    copy.begin(known.value);
    // Also where nothing differs: what was remembered must be one object.
    if (!finder.begin(known)) return unlike;
    comparison.begin(known, text, view, start, stop);
    let place = 0;
    for (;;) {
      const by = comparison.shift - start;
      // What is passed says the same, further on.
      for (; place < paths.length && (bounds[2 * place + 1] as number) < comparison.same; place += 1) {
        bounds[2 * place] = (bounds[2 * place] as number) + by;
        bounds[2 * place + 1] = (bounds[2 * place + 1] as number) + by;
      }
      if (comparison.same === oldEnd) break;
      if (place < paths.length && comparison.isAt(bounds[2 * place] as number, bounds[2 * place + 1] as number)) {
        const [from, to] = [bounds[2 * place] as number, bounds[2 * place + 1] as number];
        if (!replace(paths[place] as Path, from, to, from + comparison.shift)) return unlike;
        bounds[2 * place] = from + by;
      } else {
        if (!finder.find()) return unlike;
        const { from, to, path } = finder;
        const newFrom = comparison.newPlaceOf(from);
        if (!replace(path, from, to, newFrom)) return unlike;
        // A value that holds others may have had places inside.
        let inside = place;
        while (place > 0 && (bounds[2 * place - 2] as number) >= newFrom - start) place -= 1;
        while (inside < paths.length && (bounds[2 * inside] as number) < to) inside += 1;
        bounds.splice(2 * place, 2 * (inside - place), newFrom - start, 0);
        paths.splice(place, inside - place, path);
      }
      bounds[2 * place + 1] = behind - start;
      const first = text[start + (bounds[2 * place] as number)];
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
    if (oldEnd + comparison.shift !== stop) return unlike;
    known.length = stop - start;
    if (paths.length > mostPlaces) bounds.length = paths.length = 0;
    return copy.result();
  };
}
