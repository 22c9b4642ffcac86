import { RE2JS, RE2Set, RE2JSSyntaxException } from "re2js";
import { spendTime } from "../request/deadline.ts";
import { programSizeOf } from "./program-size.ts";

/** Instructions of one pattern. The patterns of people have a few hundred; Go takes more than a million, each of which is looked at for every letter. */
const maxProgramSize = 20_000;

/** Letters of one pattern: a class of any length is one instruction. */
const maxPatternLength = 100_000;

/** Instructions times letters of one match: one second or less. */
const maxWork = 50_000_000;

/** Compiled patterns that are kept: the ones used last, and so many instructions of them in sum. */
const maxKept = 500;
const maxKeptSize = 200_000;

/** Memory for what one pattern learns of the texts it sees, bytes; beyond it the engine forgets and goes on. */
const stateMemory = 128 * 1024;

/** A pattern in Go's syntax. What is compiled for it is kept apart, and made again when it was forgotten. */
export interface Re2 {
  readonly pattern: string;
  /** False when a match with such a text would take too long, whatever it gives. */
  isCheap(text: string): boolean;
  /** True when any part of the text matches. @throws Error when it is not cheap, 504 */
  test(text: string): boolean;
  /** The first part that matches. @throws as `test` */
  find(text: string): string | undefined;
  /** All parts that match, in order, or so many of them as `limit` says. @throws as `test` */
  findAll(text: string, limit?: number): string[];
}

interface Compiled {
  readonly size: number;
  readonly searcher: RE2JS;
  tester: RE2Set | undefined;
}

const kept = new Map<string, Compiled>();
let keptSize = 0;

/**
 * Reads a Go regular expression (RE2 syntax). It is matched in time that grows with the text alone, whatever the text: nothing backtracks.
 *
 * @throws SyntaxError in the words of Go's regexp package
 */
export function compileRe2(pattern: string): Re2 {
  compiledFor(pattern);
  return re2Of(pattern);
}

/** As `compileRe2`, for a pattern that was accepted before: nothing is compiled until it is used. */
export function re2Of(pattern: string): Re2 {
  const size = pattern.length > maxPatternLength ? Number.POSITIVE_INFINITY : programSizeOf(pattern);
  const isCheap = (text: string): boolean => size * text.length <= maxWork;
  const forText = (text: string): Compiled => {
    if (!isCheap(text)) throw new Error("the text is too long for the pattern");
    return compiledFor(pattern);
  };
  return {
    pattern,
    isCheap,
    test(text) {
      const compiled = forText(text);
      compiled.tester ??= testerOf(pattern);
      const found = compiled.tester.match(text).length > 0;
      if (text.length > 1000) spendTime();
      return found;
    },
    find: (text) => forText(text).searcher.exec(text)?.[0] ?? undefined,
    findAll: (text, limit = -1) => findAll(forText(text).searcher, text, limit),
  };
}

/** For verdicts alone: the one class of the engine that bounds its memory, and the faster one. */
function testerOf(pattern: string): RE2Set {
  const set = new RE2Set(RE2Set.UNANCHORED, 0, stateMemory);
  set.add(pattern);
  set.compile();
  return set;
}

function findAll(searcher: RE2JS, text: string, limit: number): string[] {
  const found: string[] = [];
  let end = -1;
  for (const match of searcher.matchAll(text)) {
    if (limit >= 0 && found.length >= limit) break;
    spendTime();
    const [part = ""] = match as unknown as readonly string[];
    const { index } = match as unknown as { readonly index: number };
    // Go finds nothing empty right behind what it found.
    if (part !== "" || index !== end) found.push(part);
    end = index + part.length;
  }
  return found;
}

function compiledFor(pattern: string): Compiled {
  const known = kept.get(pattern);
  if (known !== undefined) {
    // The one used last goes last.
    kept.delete(pattern);
    kept.set(pattern, known);
    return known;
  }
  const size = pattern.length > maxPatternLength ? Number.POSITIVE_INFINITY : programSizeOf(pattern);
  if (size > maxProgramSize) throw new SyntaxError(`expression too large: \`${pattern}\``);
  spendTime();
  const compiled: Compiled = { size, searcher: parsed(pattern), tester: undefined };
  kept.set(pattern, compiled);
  keptSize += size;
  for (const [oldest, { size: freed }] of kept) {
    if (kept.size <= maxKept && keptSize <= maxKeptSize) break;
    kept.delete(oldest);
    keptSize -= freed;
  }
  return compiled;
}

/** What Go says behind some words, and the engine does not. */
const missing: Readonly<Record<string, (pattern: string) => string>> = {
  "trailing backslash at end of expression": () => ": ``",
  "expression nests too deeply": (pattern) => `: \`${pattern}\``,
};

function parsed(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (cause) {
    if (!(cause instanceof RE2JSSyntaxException)) throw cause;
    const words = cause.message.replace(/^error parsing regexp: /, "");
    throw new SyntaxError(`${words}${missing[words]?.(pattern) ?? ""}`, { cause });
  }
}
