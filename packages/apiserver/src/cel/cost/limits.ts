/** Most that one expression of a schema may cost at worst. */
export const expressionLimit = 10_000_000;

/** Most that all expressions of one schema may cost together at worst. */
export const schemaLimit = 100_000_000;

/** Most that one evaluation may cost. */
export const evaluationLimit = 1_000_000;

/** Most that all evaluations for one object may cost together. */
export const objectBudget = 10_000_000;

/** Why an expression is too dear, in the words of the genuine server. */
export function tooDear(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? "more than 100x" : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return (
    `${what} exceeds budget by factor of ${shown} ` +
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
  );
}
