/** Most that one evaluation may cost. */
export const evaluationLimit = 1_000_000;

/** Most that all evaluations for one object may cost together. */
export const objectBudget = 10_000_000;
