/** Longest text that one call may make, in characters. Walking over it once would cost as much as an evaluation may. */
export const longestText = 10_000_000;

/** Longest list that one call may make, in items. */
const longestList = 1_000_000;

/** Values that one comparison may walk over. */
const mostCompared = 2_000_000;

/** What compares its operands in depth, or parts of them with each other. */
const comparing: ReadonlySet<string> = new Set([
  "==",
  "!=",
  "in",
  "indexOf",
  "lastIndexOf",
  "distinct",
  "sets.contains",
  "sets.equivalent",
  "sets.intersects",
]);

/**
 * True when a call would take longer, or make more, than its price says. Prices are those of the genuine server, which joins lists without copying
 * them and lets its garbage collector keep up with texts of any length; values here are JavaScript's.
 */
export function isTooLarge(name: string, operands: readonly unknown[]): boolean {
  const [first, second] = operands;
  if (typeof first !== "object" && typeof second !== "object") return false;
  if (comparing.has(name)) return weighsMoreThan(operands, mostCompared);
  if (!Array.isArray(first)) return false;
  switch (name) {
    case "+":
      return first.length + (Array.isArray(second) ? second.length : 0) > longestList;
    case "flatten":
      return first.reduce((sum: number, item) => sum + (Array.isArray(item) ? item.length : 1), 0) > longestList;
    case "join": {
      const between = typeof second === "string" ? second.length : 0;
      return first.reduce((sum: number, item) => sum + between + (typeof item === "string" ? item.length : 0), 0) > longestText;
    }
    default:
      return false;
  }
}

/**
 * True when there are more values than `limit`, of which so many letters of a text make one. Counts what is shared as often as it stands there, and
 * stops at the limit.
 */
export function weighsMoreThan(values: readonly unknown[], limit: number, lettersPerValue = 64): boolean {
  let left = limit;
  const pending: unknown[] = [...values];
  while (pending.length > 0) {
    const value = pending.pop();
    left -= typeof value === "string" ? 1 + value.length / lettersPerValue : 1;
    if (typeof value === "object" && value !== null) {
      const parts: readonly unknown[] = Array.isArray(value) ? value : value instanceof Map ? [...value.values()] : Object.values(value);
      if (parts.length + pending.length > left) return true;
      for (const part of parts) pending.push(part);
    }
    if (left < 0) return true;
  }
  return false;
}
