/**
 * The order in which Go's YAML library prints the keys of a map: letters by code point, runs of digits by their number, and where a letter
 * meets something else, the other comes first unless digits came before. The library before did not look at what came before.
 */
export function compareKeys(left: string, right: string, isOlder = false): number {
  let same = 0;
  while (same < left.length && left.charCodeAt(same) === right.charCodeAt(same)) same++;
  // Most keys differ first in a small letter.
  const [first, second] = [left.charCodeAt(same), right.charCodeAt(same)];
  if (isSmall(first) && isSmall(second)) return first - second;
  const a = Array.from(left);
  const b = Array.from(right);
  let afterDigit = false;
  for (let index = 0; index < a.length && index < b.length; index++) {
    const x = a[index] as string;
    const y = b[index] as string;
    if (x === y) {
      afterDigit = isDigit(x);
      continue;
    }
    const isLetterX = isLetter(x);
    const isLetterY = isLetter(y);
    if (isLetterX && isLetterY) return byCodePoint(x, y);
    if (isLetterX || isLetterY) return isLetterX === (afterDigit && !isOlder) ? -1 : 1;
    const seed = (x === "0" || y === "0") && followsNonZeroDigit(a, index) ? 1 : 0;
    const numberX = runOfDigits(a, index, seed);
    const numberY = runOfDigits(b, index, seed);
    if (numberX.value !== numberY.value) return numberX.value < numberY.value ? -1 : 1;
    if (numberX.end !== numberY.end) return numberX.end - numberY.end;
    return byCodePoint(x, y);
  }
  return a.length - b.length;
}

/** The members of a mapping in that order: the one in which Talos prints its maps. */
export function sortedByKey<T>(members: Readonly<Record<string, T>> | ReadonlyMap<string, T>, isOlder = false): Map<string, T> {
  const entries: [string, T][] = members instanceof Map ? [...members] : Object.entries(members);
  return new Map(entries.toSorted(([a], [b]) => compareKeys(a, b, isOlder)));
}

/** The members of a mapping by the bytes of their keys: the order in which Talos goes through names that it sorts itself. */
export function sortedByBytes<T>(members: Readonly<Record<string, T>> | ReadonlyMap<string, T>): Map<string, T> {
  const entries: [string, T][] = members instanceof Map ? [...members] : Object.entries(members);
  return new Map(entries.toSorted(([a], [b]) => compareBytes(a, b)));
}

/** Order by UTF-8 bytes, which is the order of code points. */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** A zero inside a number (`10` against `1`) counts, leading zeros do not. */
function followsNonZeroDigit(chars: readonly string[], index: number): boolean {
  for (let at = index - 1; at >= 0 && isDigit(chars[at] as string); at--) if (chars[at] !== "0") return true;
  return false;
}

function runOfDigits(chars: readonly string[], from: number, seed: number): { value: bigint; end: number } {
  let end = from;
  while (end < chars.length && isDigit(chars[end] as string)) end++;
  return { value: BigInt(`${seed}${chars.slice(from, end).join("")}`), end };
}

function byCodePoint(a: string, b: string): number {
  return (a.codePointAt(0) ?? 0) - (b.codePointAt(0) ?? 0);
}

function isSmall(code: number): boolean {
  return code >= 0x61 && code <= 0x7a;
}

function isDigit(char: string): boolean {
  return /^\p{Nd}$/u.test(char);
}

function isLetter(char: string): boolean {
  return /^\p{L}$/u.test(char);
}
