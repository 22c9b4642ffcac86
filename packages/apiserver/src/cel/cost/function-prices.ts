import { capped, eitherOf, fixedSize, patternWeight, productOf, sumOf, traversal, uncountable, type SizeRange } from "./size-range.ts";

/** What a function is called on or with. */
export interface Operand {
  readonly size: SizeRange;
  /** Kind of its type: `list`, `map`, `dyn`, or what the engine calls it. */
  readonly kind: string;
  /** The value where it is written out. */
  readonly literal: unknown;
  /** Of lists. */
  readonly element: { readonly isText: boolean; readonly size: SizeRange } | undefined;
}

/** Price of a call beside its operands, and the size of what it gives. */
export interface CallPrice {
  readonly cost: number;
  readonly size?: SizeRange;
}

/**
 * Prices of the functions of the Common Expression Language and of Kubernetes' libraries, at worst.
 *
 * @param name as people write it, with the namespace for functions that have one
 * @see https://kubernetes.io/docs/reference/using-api/cel/
 */
export function callPrice(name: string, target: Operand | undefined, args: readonly Operand[]): CallPrice {
  const [first, second] = args;
  if (target === undefined) return first === undefined ? { cost: 1 } : plainPrice(name, first, second);
  return memberPrice(name, target, args);
}

function plainPrice(name: string, first: Operand, second: Operand | undefined): CallPrice {
  const { size } = first;
  switch (name) {
    case "url":
      return { cost: traversal(size.max), size };
    case "cidr":
    case "isIP":
    case "isCIDR":
    case "ip":
    case "quantity":
    case "isQuantity":
    case "semver":
    case "isSemver":
      return { cost: traversal(size.max) };
    case "ip.isCanonical":
      return { cost: traversal(size.max, 2) };
    case "bytes":
      return { cost: Math.max(1, traversal(size.max)), size: { min: size.min, max: capped(size.max * 4) } };
    case "string":
      return first.kind === "dyn" || first.kind === "bytes" ? { cost: Math.max(1, traversal(size.max)), size } : { cost: 1 };
    case "strings.quote":
      return { cost: traversal(size.max), size: { min: size.min + 2, max: capped(size.max * 2 + 2) } };
    case "sets.contains":
    case "sets.intersects":
      return { cost: capped(productOf(size, second?.size ?? size).max + 1) };
    case "sets.equivalent":
      return { cost: capped(2 * productOf(size, second?.size ?? size).max + 1) };
    case "lists.range":
      return made(1, fixedSize(first.literal === undefined ? uncountable : Number(first.literal)));
    default:
      return { cost: 1 };
  }
}

function memberPrice(name: string, target: Operand, args: readonly Operand[]): CallPrice {
  const { size, element } = target;
  const [first, second] = args;
  switch (name) {
    case "isSorted":
    case "sum":
    case "max":
    case "min":
    case "indexOf":
    case "lastIndexOf":
      if (element === undefined) return { cost: traversal(size.max) };
      return { cost: capped(size.max * (1 + (element.isText ? traversal(element.size.max) : 0))) };
    case "lowerAscii":
    case "upperAscii":
    case "substring":
    case "trim":
      return { cost: traversal(size.max), size };
    case "replace":
      return first === undefined || second === undefined
        ? { cost: 1 }
        : { cost: traversal(size.max, 2), size: replaced(size, first.size, second.size) };
    case "split":
      return {
        cost: traversal(size.max, 2),
        size: { min: 0, max: typeof second?.literal === "bigint" ? Number(second.literal) : size.max },
      };
    case "join":
      return joined(target, first);
    case "find":
    case "findAll":
      return { cost: searched(size, first), size: { min: 0, max: size.max } };
    case "matches":
      return { cost: searched(size, first) };
    case "contains":
      return { cost: capped(traversal(size.max) * traversal(first?.size.max ?? 0)) };
    case "startsWith":
    case "endsWith":
      return { cost: traversal(first?.size.max ?? 0) };
    case "format":
      return { cost: traversal(size.max) };
    case "containsIP":
      return { cost: 4 + (isText(first) ? traversal(first.size.max) : 0) };
    case "containsCIDR":
      return { cost: 7 + (isText(first) ? traversal(first.size.max) : 0) };
    case "validate":
      return { cost: capped(traversal(first?.size.max ?? 0) * 32) };
    case "slice":
      return made(1, fixedSize(Math.max(0, numberOr(second, size.max) - numberOr(first, 0))));
    case "reverse":
      return element === undefined ? { cost: 1 } : made(1, size);
    case "flatten":
      return made(first === undefined ? 1 : numberOr(first, uncountable), size);
    case "distinct":
      return made(2, productOf(size, size));
    case "sort":
      return made(element?.isText === true ? 2.1 : 2, productOf(size, size));
    default:
      return { cost: 1 };
  }
}

function isText(operand: Operand | undefined): operand is Operand {
  return operand !== undefined && (operand.kind === "dyn" || operand.kind === "string" || typeof operand.literal === "string");
}

function numberOr(operand: Operand | undefined, otherwise: number): number {
  return typeof operand?.literal === "bigint" ? Number(operand.literal) : otherwise;
}

/** A function that makes a list and walks over so many items for it. */
function made(factor: number, size: SizeRange): CallPrice {
  return { cost: capped(Math.ceil(size.max * factor) + 11), size };
}

function searched(text: SizeRange, pattern: Operand | undefined): number {
  return capped(traversal(text.max + 1) * patternWeight(pattern?.size.max ?? 0));
}

function joined({ size, element }: Operand, separator: Operand | undefined): CallPrice {
  let length = element === undefined ? fixedSize(0) : productOf(size, element.size);
  if (separator !== undefined) {
    length = sumOf(length, productOf(separator.size, { min: Math.max(size.min - 1, 0), max: Math.max(size.max - 1, 0) }));
  }
  return { cost: traversal(length.max), size: length };
}

/** Longest and shortest text after every occurrence of one text was replaced by another. */
function replaced(text: SizeRange, from: SizeRange, to: SizeRange): SizeRange {
  const most =
    from.min === 0
      ? { count: text.max + 1, kept: text.max }
      : to.max <= from.min
        ? { count: 0, kept: text.max }
        : { count: Math.ceil(text.max / from.min), kept: 0 };
  const least =
    from.max === 0
      ? { count: text.min + 1, kept: text.min }
      : from.max <= to.min
        ? { count: 0, kept: text.min }
        : { count: Math.ceil(text.min / from.max), kept: 0 };
  return eitherOf(fixedSize(capped(most.count * to.max + most.kept)), fixedSize(capped(least.count * to.min + least.kept)));
}
