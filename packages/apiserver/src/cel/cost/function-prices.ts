/** What a function is called on or with. */
export interface Operand {
  /** Characters, items or entries. */
  readonly size: number;
  readonly kind: "string" | "bytes" | "other";
  /** Of whole numbers: the value. */
  readonly number: bigint | undefined;
  /** The first item of a list. */
  readonly item: { readonly size: number; readonly isText: boolean } | undefined;
}

/**
 * Prices of the functions of the Common Expression Language and of Kubernetes' libraries.
 *
 * @param name as people write it, with the namespace for functions that have one
 * @param target what stands before the dot; `undefined` for plain calls
 * @see https://kubernetes.io/docs/reference/using-api/cel/
 */
export function callPrice(name: string, target: Operand | undefined, args: readonly Operand[]): number {
  const [first, second] = args;
  if (target === undefined) return first === undefined ? 1 : plainPrice(name, first, second);
  return memberPrice(name, target, args);
}

/** Stands for a number that is none: the call is too dear. */
const uncountable = 2 ** 64;

/** Price of walking over so many characters, rounded up. */
export function traversal(size: number, factor = 1): number {
  return Math.ceil(size * 0.1 * factor);
}

function plainPrice(name: string, first: Operand, second: Operand | undefined): number {
  const { size } = first;
  switch (name) {
    case "url":
    case "cidr":
    case "isIP":
    case "isCIDR":
    case "ip":
    case "quantity":
    case "isQuantity":
    case "semver":
    case "isSemver":
    case "strings.quote":
      return traversal(size);
    case "ip.isCanonical":
      return traversal(size, 2);
    case "bytes":
      return Math.max(1, traversal(size));
    case "string":
      return first.kind === "bytes" ? Math.max(1, traversal(size)) : 1;
    case "sets.contains":
    case "sets.intersects":
      return size * (second?.size ?? size) + 1;
    case "sets.equivalent":
      return 2 * size * (second?.size ?? size) + 1;
    case "lists.range":
      return made(numberOr(first, uncountable));
    default:
      return 1;
  }
}

function memberPrice(name: string, target: Operand, args: readonly Operand[]): number {
  const { size, item } = target;
  const [first, second] = args;
  switch (name) {
    case "isSorted":
    case "sum":
    case "max":
    case "min":
    case "indexOf":
    case "lastIndexOf":
      if (item === undefined) return traversal(size);
      return size * (1 + (item.isText ? traversal(item.size) : 0));
    case "lowerAscii":
    case "upperAscii":
    case "substring":
    case "trim":
    case "format":
      return traversal(size);
    case "replace":
      return first === undefined || second === undefined ? 1 : traversal(size, 2);
    case "split":
      return traversal(size, 2);
    case "join":
      return traversal(size * (item?.size ?? 0) + (first?.size ?? 0) * Math.max(size - 1, 0));
    case "find":
    case "findAll":
    case "matches":
      return traversal(size + 1) * Math.ceil((first?.size ?? 0) * 0.25);
    case "contains":
      return traversal(size) * traversal(first?.size ?? 0);
    case "startsWith":
    case "endsWith":
      return traversal(first?.size ?? 0);
    case "containsIP":
      return 4 + (first?.kind === "string" ? traversal(first.size) : 0);
    case "containsCIDR":
      return 7 + (first?.kind === "string" ? traversal(first.size) : 0);
    case "validate":
      return traversal(first?.size ?? 0) * 32;
    case "slice":
      return made(Math.max(0, numberOr(second, size) - numberOr(first, 0)));
    case "reverse":
      return item === undefined ? 1 : made(size);
    case "flatten":
      return made(size, first === undefined ? 1 : numberOr(first, uncountable));
    case "distinct":
      return made(size * size, 2);
    case "sort":
      return made(size * size, item?.isText === true ? 2.1 : 2);
    default:
      return 1;
  }
}

function numberOr(operand: Operand | undefined, otherwise: number): number {
  return operand?.number === undefined ? otherwise : Number(operand.number);
}

/** A function that makes a list and walks over so many items for it. */
function made(items: number, factor = 1): number {
  return Math.ceil(items * factor) + 11;
}
