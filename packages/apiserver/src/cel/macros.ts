import type { Environment } from "@marcbachmann/cel-js";
import { Optional } from "@marcbachmann/cel-js";

/** What the engine hands to macros; it declares none of these types. */
interface Ast {
  readonly op: string;
  readonly args: unknown;
}
interface Context {
  forkWithVariable(name: string, type: unknown): BoundContext;
}
interface BoundContext extends Context {
  reuse(parent: Context): BoundContext;
  setIterValue(value: unknown, evaluator: Evaluator): BoundContext;
}
interface Evaluator {
  run(ast: Ast, context: Context): unknown;
}
interface Checker {
  check(ast: Ast, context: Context): CelType;
  getType(name: string): CelType;
  createError(code: string, message: string, ast: Ast): Error;
}
interface CelType {
  readonly kind: string;
  readonly keyType?: CelType;
  readonly valueType?: CelType;
}
interface Expansion {
  readonly args: readonly Ast[];
  readonly receiver: Ast;
}

/** Adds the macros that the engine lacks: `has()` on any select, `optMap`, `optFlatMap` and the two-variable forms. */
export function registerMacros(environment: Environment): void {
  environment.registerFunction("hasField(ast): bool", ({ args }: Expansion) => hasField(args[0] as Ast));
  environment.registerFunction("optional.optMap(ast, ast): optional<dyn>", (call: Expansion) =>
    optionalMap(call, (value) => Optional.of(value)),
  );
  environment.registerFunction("optional.optFlatMap(ast, ast): optional<dyn>", (call: Expansion) => optionalMap(call, (value) => value));
  for (const receiver of ["list", "map"]) {
    environment.registerFunction(`${receiver}.all(ast, ast, ast): bool`, (call: Expansion) => quantifier(call, 2, "all"));
    environment.registerFunction(`${receiver}.exists(ast, ast, ast): bool`, (call: Expansion) => quantifier(call, 2, "some"));
    environment.registerFunction(`${receiver}.existsOne(ast, ast, ast): bool`, (call: Expansion) => quantifier(call, 2, "one"));
    for (const extra of ["ast, ast, ast", "ast, ast, ast, ast"]) {
      environment.registerFunction(`${receiver}.transformList(${extra}): list<dyn>`, (call: Expansion) => transform(call, "list"));
      environment.registerFunction(`${receiver}.transformMap(${extra}): map<dyn, dyn>`, (call: Expansion) => transform(call, "map"));
      environment.registerFunction(`${receiver}.transformMapEntry(${extra}): map<dyn, dyn>`, (call: Expansion) =>
        transform(call, "entries"),
      );
    }
  }
  environment.registerFunction("list.sortBy(ast, ast): list<dyn>", sortBy);
}

function variable(ast: Ast | undefined): string {
  if (ast?.op !== "id") throw new Error("argument is not an identifier");
  return ast.args as string;
}

function hasField(select: Ast): object {
  return {
    typeCheck(checker: Checker, _macro: unknown, context: Context) {
      if (select.op !== ".") throw checker.createError("invalid_macro_argument", "invalid argument to has() macro", select);
      checker.check(select, context);
      return checker.getType("bool");
    },
    evaluate(evaluator: Evaluator, _macro: unknown, context: Context) {
      const [inner, name] = select.args as [Ast, string];
      let value = evaluator.run(inner, context);
      if (value instanceof Optional) {
        if (!value.hasValue()) return false;
        value = (value as Optional).value();
      }
      if (value instanceof Map) return value.has(name);
      return typeof value === "object" && value !== null && Object.hasOwn(value, name);
    },
  };
}

function optionalMap({ args, receiver }: Expansion, wrap: (value: unknown) => unknown): object {
  const name = variable(args[0]);
  const body = args[1] as Ast;
  let bound: BoundContext;
  return {
    typeCheck(checker: Checker, _macro: unknown, context: Context) {
      const type = checker.check(receiver, context);
      if (type.kind !== "optional" && type.kind !== "dyn")
        throw checker.createError("optional_expected", "receiver of optMap must be optional", receiver);
      bound = context.forkWithVariable(name, type.valueType ?? checker.getType("dyn"));
      checker.check(body, bound);
      return checker.getType("optional<dyn>");
    },
    evaluate(evaluator: Evaluator, _macro: unknown, context: Context) {
      const value = evaluator.run(receiver, context);
      if (!(value instanceof Optional) || !value.hasValue()) return Optional.none();
      return wrap(evaluator.run(body, bound.reuse(context).setIterValue((value as Optional).value(), evaluator)));
    },
  };
}

function quantifier({ args, receiver }: Expansion, variables: 1 | 2, wanted: "all" | "some" | "one"): object {
  const names = args.slice(0, variables).map(variable);
  const body = args[variables] as Ast;
  let outer: BoundContext;
  let inner: BoundContext;
  return {
    typeCheck(checker: Checker, _macro: unknown, context: Context) {
      const type = checker.check(receiver, context);
      const dyn = checker.getType("dyn");
      const [first, second] =
        type.kind === "map" ? [type.keyType ?? dyn, type.valueType ?? dyn] : [checker.getType("int"), type.valueType ?? dyn];
      outer = context.forkWithVariable(
        names[0] ?? "",
        variables === 2 ? (type.kind === "dyn" ? dyn : first) : type.kind === "map" ? first : second,
      );
      inner = variables === 2 ? outer.forkWithVariable(names[1] ?? "", second) : outer;
      checker.check(body, inner);
      return checker.getType("bool");
    },
    evaluate(evaluator: Evaluator, _macro: unknown, context: Context) {
      const entries = entriesOf(evaluator.run(receiver, context));
      let hits = 0;
      let failure: unknown;
      for (const [key, value] of entries.pairs) {
        const bound = outer.reuse(context).setIterValue(variables === 2 ? key : entries.isMap ? key : value, evaluator);
        const scope = variables === 2 ? inner.reuse(bound).setIterValue(value, evaluator) : bound;
        try {
          const answer = evaluator.run(body, scope);
          if (answer === true) hits++;
          // An item that decides the result outweighs errors of other items.
          if (wanted === "all" && answer === false) return false;
          if (wanted === "some" && answer === true) return true;
        } catch (error) {
          if (wanted === "one") throw error;
          failure ??= error;
        }
      }
      if (failure !== undefined) throw failure;
      return wanted === "one" ? hits === 1 : wanted === "all";
    },
  };
}

/** The two-variable macros that make something new; with four arguments the third decides which items count. */
function transform({ args, receiver }: Expansion, into: "list" | "map" | "entries"): object {
  const names = args.slice(0, 2).map(variable);
  const filter = args.length === 4 ? (args[2] as Ast) : undefined;
  const body = args.at(-1) as Ast;
  let outer: BoundContext;
  let inner: BoundContext;
  return {
    typeCheck(checker: Checker, _macro: unknown, context: Context) {
      const type = checker.check(receiver, context);
      const dyn = checker.getType("dyn");
      const key = type.kind === "map" ? (type.keyType ?? dyn) : type.kind === "dyn" ? dyn : checker.getType("int");
      outer = context.forkWithVariable(names[0] ?? "", key);
      inner = outer.forkWithVariable(names[1] ?? "", type.valueType ?? dyn);
      if (filter !== undefined) checker.check(filter, inner);
      checker.check(body, inner);
      return checker.getType(into === "list" ? "list<dyn>" : "map<dyn, dyn>");
    },
    evaluate(evaluator: Evaluator, _macro: unknown, context: Context) {
      const list: unknown[] = [];
      const map = new Map<unknown, unknown>();
      for (const [key, value] of entriesOf(evaluator.run(receiver, context)).pairs) {
        const scope = inner.reuse(outer.reuse(context).setIterValue(key, evaluator)).setIterValue(value, evaluator);
        if (filter !== undefined && evaluator.run(filter, scope) !== true) continue;
        const made = evaluator.run(body, scope);
        if (into === "list") list.push(made);
        else if (into === "map") map.set(key, made);
        else {
          for (const [newKey, newValue] of entriesOf(made).pairs) {
            if (map.has(newKey)) throw new Error(`insert failed: key ${String(newKey)} already exists`);
            map.set(newKey, newValue);
          }
        }
      }
      return into === "list" ? list : map;
    },
  };
}

function sortBy({ args, receiver }: Expansion): object {
  const name = variable(args[0]);
  const body = args[1] as Ast;
  let bound: BoundContext;
  return {
    typeCheck(checker: Checker, _macro: unknown, context: Context) {
      const type = checker.check(receiver, context);
      bound = context.forkWithVariable(name, type.valueType ?? checker.getType("dyn"));
      checker.check(body, bound);
      return checker.getType("list<dyn>");
    },
    evaluate(evaluator: Evaluator, _macro: unknown, context: Context) {
      const keyed = entriesOf(evaluator.run(receiver, context)).pairs.map(([, value]) => ({
        value,
        key: evaluator.run(body, bound.reuse(context).setIterValue(value, evaluator)) as string | bigint | number,
      }));
      return keyed.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ value }) => value);
    },
  };
}

function entriesOf(value: unknown): { readonly isMap: boolean; readonly pairs: readonly (readonly [unknown, unknown])[] } {
  if (Array.isArray(value)) return { isMap: false, pairs: value.map((item, index) => [BigInt(index), item]) };
  if (value instanceof Map) return { isMap: true, pairs: [...value.entries()] };
  return { isMap: true, pairs: Object.entries(value as object) };
}
