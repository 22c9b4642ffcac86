/** What Talos binds to the names in an expression. */
export type ExpressionScope = "disk" | "volume" | "link" | "triggerExpression" | "cgroupRankingExpression";

/** What is wrong with an expression; `undefined` when nothing is. Only what is empty is found so far: the node compiles the rest. */
export function whyNotExpression(text: string, _scope: ExpressionScope, _type: "bool" | "double"): string | undefined {
  return text.trim() === "" ? "the expression is empty" : undefined;
}
