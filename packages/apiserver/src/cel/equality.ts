/** Equality of two CEL values, deep. */
export function sameCel(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if ((typeof a === "bigint" && typeof b === "number") || (typeof a === "number" && typeof b === "bigint")) return Number(a) === Number(b);
  if (a instanceof Date && b instanceof Date) return a.getTime() === b.getTime();
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameCel(item, b[index]));
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const [left, right] = [Object.entries(a), new Map(Object.entries(b))];
  return left.length === right.size && left.every(([key, value]) => right.has(key) && sameCel(value, right.get(key)));
}
