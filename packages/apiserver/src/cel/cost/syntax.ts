/** A node of a parsed expression, as far as prices need it; the engine declares no types for it. */
export interface CelNode {
  readonly op: string;
  readonly args: unknown;
  readonly meta: {
    readonly alternate?: CelNode;
    readonly macro?: { evaluate(evaluator: unknown, macro: unknown, context: unknown): unknown };
    evaluate(evaluator: unknown, node: unknown, context: unknown): unknown;
  };
  evaluate: (evaluator: unknown, node: unknown, context: unknown) => unknown;
}

/** A call, whichever way it is written. */
export interface CelCall {
  readonly name: string;
  /** What stands before the dot; `undefined` for plain calls and for functions of a namespace. */
  readonly target: CelNode | undefined;
  readonly args: readonly CelNode[];
}

const namespaces = new Set(["sets", "lists", "strings", "ip", "format", "optional", "cel"]);

/** Names under which expressions are prepared for the engine, back to what people write. */
const written: Readonly<Record<string, string>> = { hasField: "has", matchesRe2: "matches", optionalValue: "value" };

/** The call that a node is; functions of a namespace have it in their name (`sets.contains`). */
export function callOf(node: CelNode): CelCall | undefined {
  if (node.op === "call") {
    const [name, args] = node.args as [string, readonly CelNode[]];
    return { name: written[name] ?? name, target: undefined, args };
  }
  if (node.op !== "rcall") return undefined;
  const [name, target, args] = node.args as [string, CelNode, readonly CelNode[]];
  if (target.op === "id" && namespaces.has(target.args as string)) {
    return { name: `${String(target.args)}.${name}`, target: undefined, args };
  }
  return { name: written[name] ?? name, target, args };
}

/** A macro that visits the items of something, and what is done with each item. */
export interface Loop {
  readonly name: string;
  readonly range: CelNode;
  readonly filter: CelNode | undefined;
  readonly body: CelNode;
}

const oneVariable = new Set(["all", "exists", "exists_one", "existsOne", "map", "filter", "sortBy"]);
const twoVariables = new Set(["all", "exists", "existsOne", "transformList", "transformMap", "transformMapEntry"]);

/** The loop that a call is, if it is one. */
export function loopOf({ name, target, args }: CelCall): Loop | undefined {
  const first = args[0];
  const body = args.at(-1);
  if (target === undefined || first?.op !== "id" || body === undefined) return undefined;
  const isTwo = args[1]?.op === "id" && twoVariables.has(name) && args.length >= 3;
  if (isTwo) {
    return { name, range: target, filter: args.length === 4 ? args[2] : undefined, body };
  }
  if (!oneVariable.has(name) || args.length < 2) return undefined;
  return { name, range: target, filter: args.length === 3 ? args[1] : undefined, body };
}

/** What a round of a loop costs beside its filter and body, and what begins and ends it, by the expressions that the macros stand for. */
export function loopPrice({ name }: Loop): { readonly begin: number; readonly round: number; readonly end: number } {
  switch (name) {
    case "all":
      return { begin: 0, round: 3, end: 1 };
    case "exists":
      return { begin: 0, round: 4, end: 1 };
    case "exists_one":
    case "existsOne":
      return { begin: 0, round: 2, end: 2 };
    case "filter":
      return { begin: 10, round: 13, end: 1 };
    case "transformMap":
      return { begin: 30, round: 3, end: 1 };
    case "transformMapEntry":
      return { begin: 30, round: 2, end: 1 };
    default:
      return { begin: 10, round: 12, end: 1 };
  }
}
