import { entryFunctions } from "../optional-entries.ts";
import type { Declaration } from "./declaration.ts";
import { callPrice, type Operand } from "./function-prices.ts";
import { capped, eitherOf, fixedSize, sumOf, traversal, uncountable, unknownSize, type SizeRange } from "./size-range.ts";
import { callOf, loopOf, loopPrice, type CelCall, type CelNode, type Loop } from "./syntax.ts";

/** Sizes of what stands in a list or map that an expression builds. */
interface Entries {
  readonly key: SizeRange;
  readonly value: SizeRange;
  readonly isList: boolean;
}

/** What is known of a part of an expression: its price at worst, and where its value comes from. */
interface Part {
  readonly cost: number;
  /** Steps from `self`; empty for what is computed. */
  readonly path: readonly string[];
  readonly size?: SizeRange | undefined;
  readonly entries?: Entries | undefined;
}

interface Variable {
  readonly path: readonly string[];
  readonly size?: SizeRange | undefined;
  readonly entries?: Entries | undefined;
}

/**
 * The price of an expression at worst, in the units of the Common Expression Language: one for each step, a tenth for each character
 * that is walked over. Values of `self` and `oldSelf` are taken to be as large as their schema allows.
 *
 * @param root an expression whose types have been checked
 * @see https://kubernetes.io/docs/reference/using-api/cel/#cost-budget
 */
export function estimateCost(root: CelNode, self: Declaration): number {
  return new Estimator(self).part(root).cost;
}

class Estimator {
  readonly #self: Declaration;
  readonly #variables = new Map<string, Variable[]>();

  constructor(self: Declaration) {
    this.#self = self;
  }

  part(node: CelNode): Part {
    const found = this.#part(node);
    return {
      ...found,
      size: found.size ?? literalSize(node) ?? this.#declaredSize(found.path) ?? scalarSize(node) ?? this.#variableSize(node),
    };
  }

  #part(node: CelNode): Part {
    switch (node.op) {
      case "value":
        return { cost: 0, path: [] };
      case "id": {
        const variable = this.#variables.get(String(node.args))?.at(-1);
        return { cost: 1, path: variable?.path ?? [String(node.args)], entries: variable?.entries };
      }
      case ".": {
        const [operand, name] = node.args as [CelNode, string];
        const inner = this.part(operand);
        return { cost: inner.cost + (this.#isStruct(operand, inner) ? 1 : 0), path: [...inner.path, name] };
      }
      case ".?":
        return { cost: this.part((node.args as [CelNode])[0]).cost + 1, path: [] };
      case "[]":
        return this.#index(...(node.args as [CelNode, CelNode]));
      case "[?]":
        return { cost: this.#sum(node.args as CelNode[]) + 1, path: [] };
      case "list":
        return this.#list(node.args as CelNode[]);
      case "map":
        return this.#map(node.args as [CelNode, CelNode][]);
      case "&&":
      case "||":
        return { cost: this.#sum(node.args as CelNode[]), path: [] };
      case "?:":
        return this.#choice(...(node.args as [CelNode, CelNode, CelNode]));
      case "!_":
      case "-_":
        return { cost: this.part(node.args as CelNode).cost + 1, path: [] };
      case "call":
      case "rcall":
        return this.#call(callOf(node) as CelCall);
      default:
        return this.#operator(node.op, ...(node.args as [CelNode, CelNode]));
    }
  }

  #sum(nodes: readonly CelNode[]): number {
    return capped(nodes.reduce((sum, node) => sum + this.part(node).cost, 0));
  }

  #index(operand: CelNode, key: CelNode): Part {
    const of = this.part(operand);
    const cost = capped(of.cost + this.part(key).cost + 1);
    return { cost, path: [...of.path, this.#isList(operand, of) ? "@items" : "@values"], size: of.entries?.value };
  }

  #list(items: readonly CelNode[]): Part {
    const parts = items.map((item) => this.part(item));
    const value = parts
      .map(({ size }) => size ?? unknownSize)
      .reduce(eitherOf, items.length === 0 ? fixedSize(0) : { min: uncountable, max: 0 });
    return { cost: costs(parts) + 10, path: [], entries: { key: fixedSize(1), value, isList: true } };
  }

  #map(entries: readonly (readonly [CelNode, CelNode])[]): Part {
    const start = entries.length === 0 ? fixedSize(0) : { min: uncountable, max: 0 };
    const keys = entries.map(([key]) => this.part(key));
    const values = entries.map(([, value]) => this.part(value));
    const sizes = (parts: readonly Part[]): SizeRange => parts.map(({ size }) => size ?? unknownSize).reduce(eitherOf, start);
    return { cost: costs([...keys, ...values]) + 30, path: [], entries: { key: sizes(keys), value: sizes(values), isList: false } };
  }

  #choice(condition: CelNode, left: CelNode, right: CelNode): Part {
    const [yes, no] = [this.part(left), this.part(right)];
    return {
      cost: capped(this.part(condition).cost + Math.max(yes.cost, no.cost)),
      path: [],
      size: eitherOf(yes.size ?? unknownSize, no.size ?? unknownSize),
      entries: bothEntries(yes.entries, no.entries),
    };
  }

  #operator(op: string, left: CelNode, right: CelNode): Part {
    const [a, b] = [this.part(left), this.part(right)];
    const [small, large] = [a.size ?? unknownSize, b.size ?? unknownSize];
    const before = capped(a.cost + b.cost);
    const priced = (price: number): Part => ({ cost: capped(before + price), path: [] });
    switch (op) {
      case "==":
      case "!=":
        return priced(hasFixedPrice(left) ? 1 : traversal(Math.min(small.max, large.max)));
      case "<":
      case "<=":
      case ">":
      case ">=":
        return priced(mayBeText(left) || mayBeText(right) ? Math.max(1, traversal(Math.min(small.max, large.max))) : 1);
      case "in":
        return priced(kindOf(right) === "map" ? 1 : Math.max(1, large.max));
      case "+": {
        const size = sumOf(small, large);
        if (kindOf(left) === "list") return { ...priced(1), size, entries: bothEntries(a.entries, b.entries) };
        return mayBeText(left) || mayBeText(right) ? { ...priced(Math.max(1, traversal(size.max))), size } : priced(1);
      }
      default:
        return priced(1);
    }
  }

  #call(call: CelCall): Part {
    const { name, target, args } = call;
    const loop = loopOf(call);
    if (loop !== undefined) return this.#loop(loop);
    const [first, second, third] = args;
    if (name === "has" && first !== undefined) {
      // Looking whether a field is there is free; getting to its object is not.
      return { cost: this.part((first.args as [CelNode])[0]).cost, path: [] };
    }
    if (first !== undefined && (name === "dyn" || entryFunctions.has(name))) {
      const inner = this.part(first);
      return { cost: inner.cost + (name === "dyn" ? 1 : 0), path: [], size: inner.size, entries: inner.entries };
    }
    if (name === "cel.bind" && first !== undefined && second !== undefined && third !== undefined) {
      const value = this.part(second);
      const body = this.#with([[String(first.args), value]], () => this.part(third));
      return { cost: capped(10 + value.cost + body.cost), path: [], size: body.size, entries: body.entries };
    }
    if ((name === "optMap" || name === "optFlatMap") && target !== undefined && first !== undefined && second !== undefined) {
      const optional = this.part(target);
      const body = this.#with([[String(first.args), { path: [] }]], () => this.part(second));
      return { cost: capped(2 * (optional.cost + 1) + 11 + body.cost), path: [] };
    }
    const parts = args.map((arg) => this.part(arg));
    const on = target === undefined ? undefined : this.part(target);
    const operand = (node: CelNode, part: Part): Operand => this.#operand(node, part);
    const price = callPrice(
      name,
      target === undefined || on === undefined ? undefined : operand(target, on),
      parts.map((part, index) => operand(args[index] as CelNode, part)),
    );
    return { cost: capped((on?.cost ?? 0) + costs(parts) + price.cost), path: [], size: price.size };
  }

  #operand(node: CelNode, part: Part): Operand {
    const elements = node.checkedType?.kind === "list" ? node.checkedType.valueType : undefined;
    return {
      size: part.size ?? unknownSize,
      kind: kindOf(node),
      literal: node.op === "value" ? node.args : undefined,
      element:
        elements === undefined
          ? undefined
          : {
              isText: ["string", "bytes"].includes(elements.name),
              size: this.#declaredSize(part.path.length === 0 ? [] : [...part.path, "@items"]) ?? unknownSize,
            },
    };
  }

  #loop(loop: Loop): Part {
    const { range, variables, filter, body } = loop;
    const over = this.part(range);
    const isList = over.entries?.isList ?? this.#isList(range, over);
    const key: Variable = { path: [...over.path, isList ? "@indices" : "@keys"], size: over.entries?.key };
    const value: Variable = { path: [...over.path, isList ? "@items" : "@values"], size: over.entries?.value };
    const [one = "", two = ""] = variables;
    const bound: [string, Variable][] =
      variables.length === 2
        ? [
            [one, key],
            [two, value],
          ]
        : [[one, isList ? value : key]];
    const parts = this.#with(bound, () => [...(filter === undefined ? [] : [this.part(filter)]), this.part(body)]);
    const { begin, round, end } = loopPrice(loop);
    const rounds = over.size ?? unknownSize;
    let cost = capped(over.cost + begin + end + capped(rounds.max * capped(costs(parts) + round)));
    if (loop.name === "sortBy") {
      cost = capped(cost + 23 + 2 * rounds.max * rounds.max);
      return { cost, path: [], size: rounds };
    }
    if (begin === 0) return { cost, path: [], size: fixedSize(1) };
    const made =
      loop.name === "filter"
        ? ((isList ? value.size : key.size) ?? this.#declaredSize(isList ? value.path : key.path))
        : parts.at(-1)?.size;
    const entries: Entries = { key: fixedSize(1), value: eitherOf(fixedSize(0), made ?? unknownSize), isList: true };
    return { cost, path: [], size: rounds, entries: begin === 10 ? entries : undefined };
  }

  #with<T>(variables: readonly (readonly [string, Variable])[], work: () => T): T {
    for (const [name, variable] of variables) {
      const stack = this.#variables.get(name);
      if (stack === undefined) this.#variables.set(name, [variable]);
      else stack.push(variable);
    }
    const result = work();
    for (const [name] of variables) this.#variables.get(name)?.pop();
    return result;
  }

  #variableSize(node: CelNode): SizeRange | undefined {
    return node.op === "id" ? this.#variables.get(String(node.args))?.at(-1)?.size : undefined;
  }

  #declaration(path: readonly string[]): Declaration | undefined {
    if (path.length === 0) return undefined;
    let at: Declaration | undefined = this.#self;
    for (const step of path.slice(1)) {
      if (step === "@items" || step === "@values") at = at.element;
      else if (step === "@keys") at = at.kind === "map" ? keys : undefined;
      else at = at.fields?.get(step);
      if (at === undefined) return undefined;
    }
    return at;
  }

  #declaredSize(path: readonly string[]): SizeRange | undefined {
    const found = this.#declaration(path);
    return found === undefined ? undefined : { min: 0, max: found.maxElements };
  }

  #isStruct(node: CelNode, part: Part): boolean {
    const declared = this.#declaration(part.path)?.kind;
    if (declared !== undefined) return declared === "object" || declared === "map";
    return kindOf(node) !== "dyn";
  }

  #isList(node: CelNode, part: Part): boolean {
    const kind = kindOf(node);
    return kind === "list" || (kind === "dyn" && this.#declaration(part.path)?.kind === "list");
  }
}

/** Keys of maps are texts without a limit of their own; the genuine server counts them as nothing. */
const keys: Declaration = { kind: "string", maxElements: 0, minBytes: 2 };

function costs(parts: readonly Part[]): number {
  return capped(parts.reduce((sum, { cost }) => sum + cost, 0));
}

function bothEntries(a: Entries | undefined, b: Entries | undefined): Entries | undefined {
  if (a === undefined || b === undefined) return undefined;
  return { key: eitherOf(a.key, b.key), value: eitherOf(a.value, b.value), isList: a.isList };
}

function literalSize(node: CelNode): SizeRange | undefined {
  switch (node.op) {
    case "value":
      if (typeof node.args === "string") return fixedSize(Array.from(node.args).length);
      return fixedSize(node.args instanceof Uint8Array ? node.args.length : 1);
    case "list":
    case "map":
      return fixedSize((node.args as unknown[]).length);
    default:
      return undefined;
  }
}

const scalars = new Set(["bool", "double", "int", "uint", "google.protobuf.Timestamp", "google.protobuf.Duration"]);

function scalarSize(node: CelNode): SizeRange | undefined {
  const type = node.checkedType;
  const inner = type?.kind === "optional" ? type.valueType : type;
  return inner !== undefined && scalars.has(inner.name) ? fixedSize(1) : undefined;
}

function kindOf({ checkedType }: CelNode): string {
  if (checkedType === undefined) return "dyn";
  return ["list", "map", "dyn", "optional"].includes(checkedType.kind) ? checkedType.kind : checkedType.name;
}

function mayBeText(node: CelNode): boolean {
  const type = node.checkedType;
  return type === undefined || type.kind === "dyn" || type.name === "string" || type.name === "bytes";
}

function hasFixedPrice(node: CelNode): boolean {
  return ["Quantity", "net.IP", "net.CIDR", "Semver"].includes(node.checkedType?.name ?? "");
}
