import type { Finding } from "@talos-operator/api";

/** Far beyond any config, and far below what recursion survives; an API server lets 10,000 levels pass. */
const MAX_DEPTH = 100;

/** Said of a spec that is too deep to be read. */
export const TOO_DEEP: Finding = {
  field: "spec.metalSpec",
  message: `configPatches, additionalConfig or registries nest deeper than ${MAX_DEPTH} levels`,
  remedy: "Make them flatter",
  reason: "InvalidConfig",
};

/** True for a value that nests deeper than any config does. Asked before anything that calls itself for every level. */
export function isTooDeep(root: unknown): boolean {
  let level: readonly unknown[] = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
  return false;
}
