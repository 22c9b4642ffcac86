/** Fewest and most characters, items or entries that a value may have. */
export interface SizeRange {
  readonly min: number;
  readonly max: number;
}

/** Where counting stops: beyond it a number says no more than "too many". */
export const uncountable = 2 ** 64;

/** Of a value about which nothing is known. */
export const unknownSize: SizeRange = { min: 0, max: uncountable };

/** Of a value that always has the same size. */
export function fixedSize(size: number): SizeRange {
  return { min: size, max: size };
}

/** Both, one after the other. */
export function sumOf(a: SizeRange, b: SizeRange): SizeRange {
  return { min: capped(a.min + b.min), max: capped(a.max + b.max) };
}

/** One for each of the other. */
export function productOf(a: SizeRange, b: SizeRange): SizeRange {
  return { min: capped(a.min * b.min), max: capped(a.max * b.max) };
}

/** Either of the two. */
export function eitherOf(a: SizeRange, b: SizeRange): SizeRange {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}

/** Never above `uncountable`. */
export function capped(value: number): number {
  return Math.min(value, uncountable);
}

/** Price of walking over so many characters, rounded up. */
export function traversal(size: number, factor = 1): number {
  return capped(Math.ceil(size * 0.1 * factor));
}

/** Price of trying a pattern of so many characters at one place. */
export function patternWeight(length: number): number {
  return capped(Math.ceil(length * 0.25));
}
