import { Optional, type ParseResult } from "@marcbachmann/cel-js";
import { entryFunctions } from "../optional-entries.ts";
import { callPrice, type Operand } from "./function-prices.ts";
import { evaluationLimit } from "./limits.ts";
import { fixedSize, traversal } from "./size-range.ts";
import { callOf, loopOf, loopPrice, type CelNode } from "./syntax.ts";

/** What an evaluation gave and cost. */
export type Metered =
  | { readonly kind: "value"; readonly value: unknown; readonly cost: number }
  | { readonly kind: "error"; readonly error: unknown; readonly cost: number }
  /** It was stopped, whatever the expression would have made of it. */
  | { readonly kind: "too dear"; readonly cost: number };

/** Evaluates once, with these variables. */
export type MeteredProgram = (scope: Record<string, unknown>) => Metered;

interface Meter {
  spent: number;
}

/** The value a node gave last; it is read right after, by the node above it. */
interface Slot {
  value: unknown;
}

class TooDear extends Error {}

/**
 * Makes an expression count what each evaluation costs, and stop above `evaluationLimit`.
 *
 * Changes the nodes of `program`: do this once, before the first evaluation.
 */
export function meteredProgram(program: ParseResult): MeteredProgram {
  const meter: Meter = { spent: 0 };
  install(program.ast as unknown as CelNode, meter, 0);
  return (scope) => {
    meter.spent = 0;
    try {
      const value: unknown = program(scope);
      return isOver(meter) ? { kind: "too dear", cost: meter.spent } : { kind: "value", value, cost: meter.spent };
    } catch (error) {
      return isOver(meter) ? { kind: "too dear", cost: meter.spent } : { kind: "error", error, cost: meter.spent };
    }
  };
}

function isOver(meter: Meter): boolean {
  return meter.spent > evaluationLimit;
}

/** Wraps a node and all below it. `extra` is added to each evaluation: the round of the loop that the node is the body of. */
function install(node: CelNode, meter: Meter, extra: number): Slot {
  const price = priceOf(node, meter);
  const slot: Slot = { value: undefined };
  let inner: CelNode["evaluate"] | undefined;
  node.evaluate = (evaluator, _node, context) => {
    // Logical operators and quantifiers forgive errors of one side: stopped means stopped.
    if (isOver(meter)) throw new TooDear("the cost limit is exceeded");
    inner ??= evaluationOf(node);
    const value = inner(evaluator, node, context);
    slot.value = value;
    meter.spent += extra + (typeof price === "number" ? price : price(value));
    if (isOver(meter)) throw new TooDear("the cost limit is exceeded");
    return value;
  };
  return slot;
}

/** What the engine would run, known only after it has checked types. */
function evaluationOf({ meta }: CelNode): CelNode["evaluate"] {
  const { alternate, macro } = meta;
  if (alternate !== undefined) return (evaluator, _node, context) => alternate.evaluate(evaluator, alternate, context);
  if (macro !== undefined) return (evaluator, _node, context) => macro.evaluate(evaluator, macro, context);
  return (evaluator, node, context) => meta.evaluate(evaluator, node, context);
}

type Price = number | ((value: unknown) => number);

function priceOf(node: CelNode, meter: Meter): Price {
  const below = (child: CelNode, extra = 0): Slot => install(child, meter, extra);
  switch (node.op) {
    case "value":
      return 0;
    case "id":
      return 1;
    case ".":
    case ".?":
      below((node.args as [CelNode])[0]);
      return 1;
    case "[]":
    case "[?]":
      for (const child of node.args as CelNode[]) below(child);
      return 1;
    case "list":
      for (const child of node.args as CelNode[]) below(child);
      return 10;
    case "map":
      for (const child of (node.args as CelNode[][]).flat()) below(child);
      return 30;
    case "&&":
    case "||":
    case "?:":
      for (const child of node.args as CelNode[]) below(child);
      return 0;
    case "!_":
    case "-_":
      below(node.args as CelNode);
      return 1;
    case "call":
    case "rcall":
      return priceOfCall(node, below);
    default:
      return priceOfOperator(node.op, (node.args as CelNode[]).map((child) => below(child)) as [Slot, Slot]);
  }
}

function priceOfOperator(op: string, [left, right]: readonly [Slot, Slot]): Price {
  switch (op) {
    case "==":
    case "!=":
      return () => traversal(Math.min(sizeOf(left.value), sizeOf(right.value)));
    case "<":
    case "<=":
    case ">":
    case ">=":
      return () => (typeof left.value === "string" ? traversal(Math.min(sizeOf(left.value), sizeOf(right.value))) : 1);
    case "in":
      return () => (Array.isArray(right.value) ? right.value.length : 1);
    case "+":
      return () => (typeof left.value === "string" ? traversal(sizeOf(left.value) + sizeOf(right.value)) : 1);
    default:
      return 1;
  }
}

function priceOfCall(node: CelNode, below: (child: CelNode, extra?: number) => Slot): Price {
  const call = callOf(node);
  if (call === undefined) return 1;
  const { name, target, args } = call;
  const loop = loopOf(call);
  if (loop !== undefined) {
    const { begin, round, end } = loopPrice(loop);
    below(loop.range);
    if (loop.filter !== undefined) below(loop.filter);
    below(loop.body, round);
    return begin + end;
  }
  if (name === "has") {
    const [select] = args;
    if (select?.op === ".") below((select.args as [CelNode])[0]);
    return 0;
  }
  if (name === "cel.bind" || name === "optMap" || name === "optFlatMap") {
    // The first argument is a name and is never evaluated.
    if (target !== undefined) below(target);
    for (const child of args.slice(1)) below(child);
    return name === "cel.bind" ? 10 : 12;
  }
  const on = target === undefined ? undefined : below(target);
  if (entryFunctions.has(name)) {
    for (const child of args) below(child);
    return 0;
  }
  const slots = args.map((child) => below(child));
  return () =>
    callPrice(
      name,
      on === undefined ? undefined : operandOf(on),
      slots.map((slot) => operandOf(slot)),
    ).cost;
}

function operandOf({ value }: Slot): Operand {
  const isText = typeof value === "string";
  const first: unknown = Array.isArray(value) ? value[0] : undefined;
  return {
    size: fixedSize(sizeOf(value)),
    kind: isText ? "string" : value instanceof Uint8Array ? "bytes" : "value",
    literal: typeof value === "bigint" ? value : undefined,
    element: Array.isArray(value) ? { isText: typeof first === "string", size: fixedSize(sizeOf(first)) } : undefined,
  };
}

function sizeOf(value: unknown): number {
  if (typeof value === "string" || Array.isArray(value) || value instanceof Uint8Array) return value.length;
  if (typeof value !== "object" || value === null) return 1;
  if (value instanceof Map) return value.size;
  if (value instanceof Optional) return value.hasValue() ? sizeOf((value as Optional).value()) : 1;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype ? Object.keys(value).length : 1;
}
