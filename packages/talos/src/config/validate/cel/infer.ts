import type { ASTNode } from "@marcbachmann/cel-js";
import { bind, celType, commonType, dynType, errorType, fits, isAnything, nameOfType, onlyType, type CelType } from "./cel-type.ts";
import { messageFields, type Scope } from "./scopes.ts";

/** Something wrong in an expression; `at` counts code units from its start. */
export interface CelProblem {
  readonly at: number;
  readonly message: string;
}

const boolType = celType("bool");
const stringType = celType("string");
const intType = celType("int");
const comparisons: ReadonlySet<string> = new Set(["==", "!=", "<", "<=", ">", ">=", "in"]);
const loops = new Set(["all", "exists", "exists_one", "existsOne", "map", "filter"]);

/** Finds the type of an expression, and everything in it that has none. */
export class TypeInference {
  readonly problems: CelProblem[] = [];
  readonly #text: string;
  readonly #scope: Scope;

  constructor(text: string, scope: Scope) {
    this.#text = text;
    this.#scope = scope;
  }

  /** The type of a node. What is wrong in it is then in `problems`. */
  typeOf(node: ASTNode, locals: ReadonlyMap<string, CelType>): CelType {
    switch (node.op) {
      case "value":
        return typeOfLiteral(node.args);
      case "id":
        return locals.get(node.args) ?? this.#scope.names.get(node.args) ?? this.#undeclared(node.args, node.start);
      case ".":
        return this.#select(node.args[0], node.args[1], locals, this.#after(node.args[0], "."));
      case ".?":
        return optionalOf(this.#select(node.args[0], node.args[1], locals, this.#after(node.args[0], ".")));
      case "[]":
        return this.#apply("_[_]", node.args, locals, this.#after(node.args[0], "["));
      case "[?]":
        return optionalOf(this.#apply("_[_]", node.args, locals, this.#after(node.args[0], "[")));
      case "list":
        return this.#aggregate("list", [node.args], locals);
      case "map":
        return this.#aggregate("map", [node.args.map(([key]) => key), node.args.map(([, value]) => value)], locals);
      case "?:":
        return this.#apply("_?_:_", node.args, locals, this.#after(node.args[0], "?"));
      case "||":
      case "&&":
        return this.#logical(node.args, locals);
      case "!_":
      case "-_":
        return this.#apply(node.op, [node.args], locals, node.start);
      case "call":
        return this.#call(node.args[0], node.args[1], node, locals);
      case "rcall":
        return this.#method(node.args[0], node.args[1], node.args[2], locals);
      default:
        return this.#operation(node, locals);
    }
  }

  #problem(at: number, message: string): CelType {
    this.problems.push({ at, message });
    return errorType;
  }

  #undeclared(name: string, at: number): CelType {
    return this.#problem(at, `undeclared reference to '${name}' (in container '')`);
  }

  /** Where an operator stands after its first operand, which may be in parentheses. */
  #after(operand: ASTNode, operator: string): number {
    const at = this.#text.indexOf(operator, operand.end);
    return at === -1 ? operand.end : at;
  }

  #call(name: string, args: readonly ASTNode[], node: ASTNode, locals: ReadonlyMap<string, CelType>): CelType {
    const at = this.#text.indexOf("(", node.start);
    if (name !== "has") return this.#apply(name, args, locals, at);
    const [field] = args;
    if (field?.op !== ".") return errorType;
    this.#select(field.args[0], field.args[1], locals, at);
    return boolType;
  }

  #method(name: string, receiver: ASTNode, args: readonly ASTNode[], locals: ReadonlyMap<string, CelType>): CelType {
    const at = this.#text.indexOf("(", this.#after(receiver, name));
    if (receiver.op === "id" && receiver.args === "optional" && this.#scope.hasOptionals) {
      return this.#apply(name, args, locals, at, { receiver: celType("optional") });
    }
    const [variable, ...steps] = args;
    if (loops.has(name) && variable?.op === "id" && steps.length > 0) return this.#loop(name, receiver, variable.args, steps, locals, at);
    const type = this.typeOf(receiver, locals);
    const isOptional = name === "optMap" || name === "optFlatMap";
    if (isOptional && this.#scope.hasOptionals && variable?.op === "id" && steps[0] !== undefined) {
      const result = this.typeOf(steps[0], new Map([...locals, [variable.args, type.of[0] ?? dynType]]));
      return name === "optMap" ? optionalOf(result) : result;
    }
    return this.#apply(name, args, locals, at, { receiver: type });
  }

  /** The macros that go over a list or the keys of a map. */
  #loop(
    name: string,
    range: ASTNode,
    variable: string,
    steps: readonly ASTNode[],
    locals: ReadonlyMap<string, CelType>,
    at: number,
  ): CelType {
    const over = this.typeOf(range, locals);
    const isRange = isAnything(over) || over.name === "list" || over.name === "map";
    if (!isRange) {
      const message = `expression of type '${nameOfType(over)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
      this.#problem(anchorOf(range, this.#text), message);
    }
    const item = isRange ? (over.of[0] ?? dynType) : errorType;
    const inside = new Map([...locals, [variable, item]]);
    const types = steps.map((step) => this.typeOf(step, inside));
    const result: CelType =
      name === "map" || name === "filter" ? { name: "list", of: [name === "map" ? (types.at(-1) ?? dynType) : item] } : boolType;
    const [condition] = name === "map" && types.length === 1 ? [] : types;
    if (condition === undefined || fits(condition, boolType)) return result;
    if (name === "all" || name === "exists") {
      this.#problem(steps[0] === undefined ? at : anchorOf(steps[0], this.#text), expected(condition));
      return result;
    }
    const branch = result.name === "list" ? nameOfType(result) : "int";
    this.#problem(at, `found no matching overload for '_?_:_' applied to '(${nameOfType(condition)}, ${branch}, ${branch})'`);
    return result;
  }

  #select(operand: ASTNode, field: string, locals: ReadonlyMap<string, CelType>, at: number): CelType {
    const whole = this.typeOf(operand, locals);
    const isOptional = whole.name === "optional_type";
    const type = isOptional ? (whole.of[0] ?? dynType) : whole;
    if (isAnything(type)) return type;
    if (type.name === "map") return isOptional ? optionalOf(type.of[1] ?? dynType) : (type.of[1] ?? dynType);
    const known = messageFields.get(type.name);
    if (known === undefined) return this.#problem(at, `type '${nameOfType(type)}' does not support field selection`);
    const found = known.get(field);
    if (found === undefined) return this.#problem(at, `undefined field '${field}'`);
    return isOptional ? optionalOf(found) : found;
  }

  #aggregate(name: string, parts: readonly (readonly ASTNode[])[], locals: ReadonlyMap<string, CelType>): CelType {
    return { name, of: parts.map((nodes) => commonType(nodes.map((node) => this.typeOf(node, locals)))) };
  }

  /** The parser binds `<` tighter than `==`; in the language all comparisons bind alike, from left to right. */
  #operation(node: ASTNode & { readonly args: [ASTNode, ASTNode] }, locals: ReadonlyMap<string, CelType>): CelType {
    const apply = (operator: string, at: number, left: CelType, right: ASTNode): CelType =>
      this.#judge(operator === "in" ? "@in" : `_${operator}_`, [left, this.typeOf(right, locals)], at, false);
    const [first, ...steps] = comparisonsOf(node, this.#text);
    return steps.reduce(
      (left, { operator, at, operand }) => apply(operator, at, left, operand),
      this.typeOf((first as Step).operand, locals),
    );
  }

  #logical(operands: readonly ASTNode[], locals: ReadonlyMap<string, CelType>): CelType {
    const wrong = operands.filter((operand) => {
      const type = this.typeOf(operand, locals);
      if (fits(type, boolType)) return false;
      this.#problem(anchorOf(operand, this.#text), expected(type));
      return true;
    });
    return wrong.length === 0 ? boolType : errorType;
  }

  #apply(
    name: string,
    args: readonly ASTNode[],
    locals: ReadonlyMap<string, CelType>,
    at: number,
    method?: { readonly receiver: CelType },
  ): CelType {
    const types = [...(method === undefined ? [] : [method.receiver]), ...args.map((arg) => this.typeOf(arg, locals))];
    return this.#judge(name, types, at, method !== undefined);
  }

  #judge(name: string, types: readonly CelType[], at: number, isCalledOn: boolean): CelType {
    const overloads = this.#scope.functions.flatMap((table) => table.get(name) ?? []);
    if (overloads.length === 0) return this.#undeclared(name, at);
    const results = overloads
      .filter(({ isMethod, takes }) => isMethod === isCalledOn && takes.length === types.length)
      .flatMap(({ takes, gives }) => {
        const bound = new Map<string, CelType>();
        return takes.every((type, index) => fits(types[index] ?? dynType, type, bound)) ? [bind(gives, bound)] : [];
      });
    const result = onlyType(results);
    if (result !== undefined) return result;
    const shown = types.map(nameOfType);
    const applied = isCalledOn ? `${shown[0] ?? ""}.(${shown.slice(1).join(", ")})` : `(${shown.join(", ")})`;
    return this.#problem(at, `found no matching overload for '${name}' applied to '${applied}'`);
  }
}

/** An operand, with the operator before it. */
interface Step {
  readonly operator: string;
  readonly at: number;
  readonly operand: ASTNode;
}

/** The operands of comparisons that follow each other without parentheses, from left to right; of any other operator its two operands. */
function comparisonsOf(node: ASTNode & { readonly args: [ASTNode, ASTNode] }, text: string): Step[] {
  const [left, right] = node.args;
  const at = text.indexOf(node.op, left.end);
  const open = (operand: ASTNode, isBare: boolean): Step[] =>
    comparisons.has(node.op) && isComparison(operand) && isBare
      ? comparisonsOf(operand, text)
      : [{ operator: "", at: operand.start, operand }];
  const [first, ...rest] = open(right, !isEnclosed(right, text.slice(at, right.start), text));
  return [
    ...open(left, !isEnclosed(left, text.slice(left.end, at), text)),
    { operator: node.op, at, operand: (first as Step).operand },
    ...rest,
  ];
}

/** Whether parentheses beside a node go around all of it, and not only around its first or last part: a node's place is without them. */
function isEnclosed(node: ASTNode, beside: string, text: string): boolean {
  let open = 0;
  let unopened = 0;
  for (const character of text.slice(node.start, node.end)) {
    if (character === "(") open += 1;
    if (character === ")" && open > 0) open -= 1;
    else if (character === ")") unopened += 1;
  }
  return beside.split("(").length - 1 > unopened || beside.split(")").length - 1 > open;
}

function isComparison(node: ASTNode): node is ASTNode & { readonly args: [ASTNode, ASTNode] } {
  return comparisons.has(node.op);
}

function expected(type: CelType): string {
  return `expected type 'bool' but found '${nameOfType(type)}'`;
}

function optionalOf(type: CelType): CelType {
  return type.name === "optional_type" ? type : { name: "optional_type", of: [type] };
}

/** The place that the language gives to a whole expression: that of its operator. */
function anchorOf(node: ASTNode, text: string): number {
  if (node.op === "value" || node.op === "id" || node.op === "!_" || node.op === "-_" || node.op === "list" || node.op === "map")
    return node.start;
  if (node.op === "call") return text.indexOf("(", node.start);
  if (node.op === "rcall") return text.indexOf("(", text.indexOf(node.args[0], node.args[1].end));
  const [first] = node.args;
  const sign = node.op === "?:" ? "?" : node.op === "[]" || node.op === "[?]" ? "[" : node.op === ".?" ? "." : node.op;
  const at = text.indexOf(sign, first.end);
  return at === -1 ? node.start : at;
}

function typeOfLiteral(value: unknown): CelType {
  if (value === null) return celType("null");
  switch (typeof value) {
    case "boolean":
      return boolType;
    case "string":
      return stringType;
    case "bigint":
      return intType;
    case "number":
      return celType("double");
    default:
      return celType(value instanceof Uint8Array ? "bytes" : "uint");
  }
}
