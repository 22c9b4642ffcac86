import { EvaluationError } from "@marcbachmann/cel-js";

/** What went wrong with an expression, in one line, as near to the genuine server's words as the engine's allow. */
export function explainEvaluation(error: unknown): string {
  if (error instanceof EvaluationError)
    return error.code === "no_such_key" ? error.summary.replace("No such key", "no such key") : error.summary;
  const summary = (error as { readonly summary?: unknown } | undefined)?.summary;
  if (typeof summary === "string") return summary;
  return error instanceof Error ? error.message : String(error);
}
