import type { Environment, ParseResult } from "@marcbachmann/cel-js";

/**
 * Parses a prepared expression. Patterns in it are matched by our own function: the engine's backtracks, and one letter too many is enough to stop the
 * process. It is replaced here and not in the text, where comments and quotes can hide it.
 *
 * @throws ParseError
 */
export function parseExpression(environment: Environment, text: string): ParseResult {
  const program = environment.parse(text);
  replaceMatches(program.ast);
  return program;
}

function replaceMatches(value: unknown): void {
  if (Array.isArray(value)) {
    for (const item of value) replaceMatches(item);
    return;
  }
  if (typeof value !== "object" || value === null || !("op" in value) || !("args" in value)) return;
  const { op, args } = value;
  if (op === "rcall" && Array.isArray(args) && args[0] === "matches") args[0] = "matchesRe2";
  replaceMatches(args);
}
