import { Optional, type ParseResult } from "@marcbachmann/cel-js";
import { spendStep, spendTime } from "../../request/deadline.ts";
import { StatusError } from "../../request/status.ts";
import { entryFunctions } from "../optional-entries.ts";
import { isTooLarge } from "./guard.ts";
import { callPrice, traversal, type Operand } from "./function-prices.ts";
import { evaluationLimit } from "./limits.ts";
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

/** One for all: quantifiers forgive it once for each item that is left, and each new one would trace the stack. */
const tooDear = new Error("the cost limit is exceeded");

/**
 * Makes an expression count what each evaluation costs, and stop above `evaluationLimit`. What a function costs is known, and refused, before it
 * is called; so is what would take longer or make more than its price says.
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
      spendTime();
      return isOver(meter) ? { kind: "too dear", cost: meter.spent } : { kind: "value", value, cost: meter.spent };
    } catch (error) {
      // The request is over, not the rule.
      if (error instanceof StatusError) throw error;
      return isOver(meter) ? { kind: "too dear", cost: meter.spent } : { kind: "error", error, cost: meter.spent };
    }
  };
}

function isOver(meter: Meter): boolean {
  return meter.spent > evaluationLimit;
}

/**
 * Wraps a node and all below it. `extra` is added to each evaluation: the round of the loop that the node is the body of. `then` runs when it has
 * its value: the last of the operands lets look at what is about to be called.
 */
function install(node: CelNode, meter: Meter, extra: number, then?: () => void): Slot {
  const price = priceOf(node, meter);
  const slot: Slot = { value: undefined };
  let inner: CelNode["evaluate"] | undefined;
  node.evaluate = (evaluator, _node, context) => {
    // Logical operators and quantifiers forgive errors of one side: stopped means stopped.
    if (isOver(meter)) throw tooDear;
    spendStep();
    inner ??= evaluationOf(node);
    if (typeof price !== "number") price.begin();
    const value = inner(evaluator, node, context);
    slot.value = value;
    meter.spent += extra + (typeof price === "number" ? price : price.due());
    if (isOver(meter)) throw tooDear;
    then?.();
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

type Price = number | Charge;

/** A price that depends on the operands. */
interface Charge {
  /** Called before any of them is evaluated. */
  readonly begin: () => void;
  /** Called when one of them has its value. */
  readonly next: () => void;
  readonly due: () => number;
}

function priceOf(node: CelNode, meter: Meter): Price {
  const below: Below = (child, extra = 0, then) => install(child, meter, extra, then);
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
      return priceOfCall(node, meter, below);
    default: {
      const [first, second] = node.args as [CelNode, CelNode];
      return chargeBefore(meter, node.op, [first, second], below, ([left, right]) => priceOfOperator(node.op, left as Slot, right as Slot));
    }
  }
}

type Below = (child: CelNode, extra?: number, then?: () => void) => Slot;

/** A price that is asked for when all operands have their values, in whichever order the engine wants them, and before it does anything with them. */
function chargeBefore(
  meter: Meter,
  name: string,
  children: readonly CelNode[],
  below: Below,
  price: (operands: readonly Slot[]) => number,
): Charge {
  let missing = 0;
  let cost = 0;
  const charge: Charge = {
    begin: () => {
      missing = children.length;
      cost = missing === 0 ? price([]) : 0;
    },
    next: () => {
      missing -= 1;
      if (missing > 0) return;
      cost = price(operands);
      const isDear = meter.spent + cost > evaluationLimit;
      if (
        !isDear &&
        !isTooLarge(
          name,
          operands.map((slot) => slot.value),
        )
      )
        return;
      meter.spent = Math.max(meter.spent + cost, evaluationLimit + 1);
      throw tooDear;
    },
    due: () => cost,
  };
  const operands: readonly Slot[] = children.map((child) => below(child, 0, charge.next));
  return charge;
}

function priceOfOperator(op: string, left: Slot, right: Slot): number {
  switch (op) {
    case "==":
    case "!=":
      return traversal(Math.min(sizeOf(left.value), sizeOf(right.value)));
    case "<":
    case "<=":
    case ">":
    case ">=":
      return typeof left.value === "string" ? traversal(Math.min(sizeOf(left.value), sizeOf(right.value))) : 1;
    case "in":
      return Array.isArray(right.value) ? right.value.length : 1;
    case "+":
      return typeof left.value === "string" ? traversal(sizeOf(left.value) + sizeOf(right.value)) : 1;
    default:
      return 1;
  }
}

function priceOfCall(node: CelNode, meter: Meter, below: Below): Price {
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
  if (entryFunctions.has(name)) {
    for (const child of target === undefined ? args : [target, ...args]) below(child);
    return 0;
  }
  return chargeBefore(meter, name, target === undefined ? args : [target, ...args], below, (slots) => {
    const operands = slots.map((slot) => operandOf(slot));
    return target === undefined ? callPrice(name, undefined, operands) : callPrice(name, operands[0], operands.slice(1));
  });
}

function operandOf({ value }: Slot): Operand {
  const first: unknown = Array.isArray(value) ? value[0] : undefined;
  return {
    size: sizeOf(value),
    kind: typeof value === "string" ? "string" : value instanceof Uint8Array ? "bytes" : "other",
    number: typeof value === "bigint" ? value : undefined,
    item: Array.isArray(value) ? { size: sizeOf(first), isText: typeof first === "string" } : undefined,
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
