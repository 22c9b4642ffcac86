import { closeBrace, colon, comma, endOfString, endOfValue, openBrace, openBracket, quote } from "./json-bytes.ts";
import type { JsonComparison } from "./json-comparison.ts";
import type { Container } from "./json-copy.ts";
import type { Path, Paths } from "./json-paths.ts";
import type { KnownJson } from "./known-json.ts";

const leftOut = "managedFields";
const leftOutKey = Buffer.from(`"${leftOut}"`);
const deepest = 32;
const noKey = Symbol("noKey");

/** Finds the values of remembered JSON in which the new JSON differs. Used again for one after the other. */
export class JsonFinder {
  /** What `find` found: start and end in the old bytes, and where it stands in the value. */
  from = 0;
  to = 0;
  path: Path;
  readonly #comparison: JsonComparison;
  readonly #pathOf: Paths;
  #old: Buffer = Buffer.alloc(0);
  #oldEnd = 0;
  #value: object = {};
  #plain: Path[] = [];

  constructor(comparison: JsonComparison, pathOf: Paths) {
    this.#comparison = comparison;
    this.#pathOf = pathOf;
    this.path = pathOf.whole;
  }

  /** False where the remembered JSON is not one object without spaces. */
  begin({ bytes, length, value, plain }: KnownJson): boolean {
    this.#old = bytes;
    this.#oldEnd = length;
    this.#value = value;
    this.#plain = plain;
    return plain.length > 0 || (bytes[0] === openBrace && this.#isPlain(value, 0, length, this.#pathOf.whole));
  }

  /** Finds the innermost value in which, or right behind which, the next difference is. False where it is not inside anything that could be read alone. */
  find(): boolean {
    this.from = 0;
    this.to = this.#oldEnd;
    this.path = this.#pathOf.whole;
    let value: unknown = this.#value;
    for (let depth = 0; depth < deepest; depth += 1) {
      const [from, to, path] = [this.from, this.to, this.path];
      if (!this.#isPlain(value, from, to, path) || !this.#findMember(value, from, to, path)) {
        [this.from, this.to, this.path] = [from, to, path];
        break;
      }
      const first = this.#old[this.from];
      if ((first !== openBrace && first !== openBracket) || this.#comparison.same === this.from) break;
      value = this.path.isLeftOut ? undefined : (value as Container)[this.path.keys.at(-1) as string | number];
    }
    // The metadata hold managed fields, which whoever parses the whole leaves out.
    return this.path !== this.#pathOf.whole && this.path !== this.#pathOf.metadata;
  }

  /** Finds the value in an object or a list in which the next difference is, or behind which, when it may go on there. */
  #findMember(value: unknown, start: number, stop: number, path: Path): boolean {
    const isObject = this.#old[start] === openBrace;
    let at = start + 1;
    for (let index = 0; at <= this.#comparison.same && at < stop - 1; index += 1) {
      const keyAt = at;
      if (isObject) {
        at = endOfString(this.#old, at, stop) + 1;
        if (this.#old[keyAt] !== quote || this.#old[at - 1] !== colon) return false;
      }
      const to = endOfValue(this.#old, at, stop);
      // A space: values would be counted wrongly from here on.
      if (to === at) return false;
      if (this.#comparison.same <= to) {
        // It is another key, or more or fewer of them.
        if (!this.#comparison.isAt(at, to)) return false;
        const key = path.isLeftOut ? undefined : isObject ? this.#keyFrom(value, keyAt, at - 1, path) : index;
        if (key === noKey) return false;
        this.from = at;
        this.to = to;
        this.path = this.#pathOf.member(path, key);
        return true;
      }
      if (this.#old[to] !== comma) return false;
      at = to + 1;
    }
    return false;
  }

  /** `undefined` for the managed fields where they are left out. */
  #keyFrom(value: unknown, from: number, to: number, path: Path): string | undefined | typeof noKey {
    const key = this.#old.toString("utf8", from + 1, to - 1);
    // The bytes of a key with a backslash may be those of another key.
    if (key.includes("\\")) return noKey;
    if (Object.hasOwn(value as object, key)) return key;
    return path === this.#pathOf.metadata && this.#isLeftOutKey(from, to) ? undefined : noKey;
  }

  /** Whether each key of an object stands once in the old bytes, without spaces, and nothing else does. */
  #isPlain(value: unknown, start: number, stop: number, path: Path): boolean {
    if (path.isLeftOut || this.#old[start] === openBracket || this.#plain.includes(path)) return true;
    if (!this.#isOnlyKeysOf(value as object, start, stop, path)) return false;
    this.#plain.push(path);
    return true;
  }

  #isOnlyKeysOf(value: object, start: number, stop: number, path: Path): boolean {
    let keys = Object.keys(value).length;
    let mayLack = path === this.#pathOf.metadata && !Object.hasOwn(value, leftOut);
    let at = start + 1;
    while (at < stop - 1) {
      if (this.#old[at] !== quote) return false;
      const behindKey = endOfString(this.#old, at, stop);
      if (this.#old[behindKey] !== colon) return false;
      if (mayLack && this.#isLeftOutKey(at, behindKey)) mayLack = false;
      else keys -= 1;
      const to = endOfValue(this.#old, behindKey + 1, stop);
      if (this.#old[to] !== comma) return this.#old[to] === closeBrace && to === stop - 1 && keys === 0;
      at = to + 1;
    }
    return false;
  }

  #isLeftOutKey(from: number, to: number): boolean {
    return to - from === leftOutKey.length && this.#old.compare(leftOutKey, 0, leftOutKey.length, from, to) === 0;
  }
}
