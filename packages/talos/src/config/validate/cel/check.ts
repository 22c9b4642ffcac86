import { Environment, ParseError, type ASTNode } from "@marcbachmann/cel-js";
import { nameOfType, type CelType } from "./cel-type.ts";
import { TypeInference, type CelProblem } from "./infer.ts";
import { scopes, type ExpressionScope } from "./scopes.ts";
import { syntaxProblems } from "./syntax-problem.ts";

export type { ExpressionScope } from "./scopes.ts";

/**
 * What is wrong with an expression by the rules of the Common Expression Language and the names that Talos gives it; `undefined` when
 * nothing is. Types are checked as Talos does: kinds of numbers are never mixed, so that `disk.size > 100` is refused and
 * `disk.size > 100u` is not. Of an expression that cannot be read, only the first error is told.
 */
export function whyNotExpression(text: string, scope: ExpressionScope, type: "bool" | "double"): string | undefined {
  const { hasOptionals } = scopes[scope];
  let node: ASTNode;
  try {
    node = new Environment({ enableOptionalTypes: hasOptionals, homogeneousAggregateLiterals: false }).parse(text).ast;
  } catch (error) {
    if (error instanceof ParseError) return shown(text, syntaxProblems(text, error));
    throw error;
  }
  const refused = grammarProblems(node, text);
  if (refused.length > 0) return shown(text, refused);
  const inference = new TypeInference(text, scopes[scope]);
  const found = inference.typeOf(node, new Map());
  if (inference.problems.length > 0) return shown(text, inference.problems);
  return found.name === type ? undefined : `expression output type is ${nameOfResult(found)}, expected ${type}`;
}

/** What the language's grammar refuses and the parser takes: one choice inside another without parentheses, and `has` of what is no field. */
function grammarProblems(node: ASTNode, text: string): CelProblem[] {
  const problems = childrenOf(node.args).flatMap((child) => grammarProblems(child, text));
  if (node.op === "?:") {
    const [condition, then] = node.args;
    const isBare = !text.slice(text.indexOf("?", condition.end), then.start).includes("(");
    if (then.op === "?:" && isBare) {
      problems.push({ at: text.indexOf("?", then.args[0].end), message: "Syntax error: mismatched input '?' expecting ':'" });
    }
  }
  if (node.op === "call" && node.args[0] === "has" && node.args[1][0]?.op !== ".") {
    problems.push({ at: node.args[1][0]?.start ?? node.start, message: "invalid argument to has() macro" });
  }
  return problems;
}

/** Times and nothing have other names here than anywhere else. */
function nameOfResult(type: CelType): string {
  return nameOfType(type)
    .replace(/\bduration\b/, "google.protobuf.Duration")
    .replace(/\btimestamp\b/, "google.protobuf.Timestamp")
    .replace(/\bnull\b/, "null_type");
}

function childrenOf(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(childrenOf);
  return typeof args === "object" && args !== null && "op" in args ? [args as ASTNode] : [];
}

/** Problems with the line that each is in, and a mark below it. */
function shown(text: string, problems: readonly CelProblem[]): string {
  return [...problems]
    .sort((one, other) => one.at - other.at)
    .map(({ at, message }) => {
      const before = text.slice(0, at).split("\n");
      const line = before.length;
      const column = Array.from(before.at(-1) ?? "").length;
      return `ERROR: <input>:${line}:${column + 1}: ${message}\n | ${text.split("\n")[line - 1] ?? ""}\n | ${".".repeat(column)}^`;
    })
    .join("\n");
}
