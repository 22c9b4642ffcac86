import { getOwn, isObject } from "../json.ts";
import { spendTime } from "../request/deadline.ts";

/** One step of a path: the values it leads to from one value. */
type Step = (value: unknown) => readonly unknown[];

const parsed = new Map<string, readonly Step[]>();

/**
 * Evaluates a JSONPath of a printer column (`.status.conditions[?(@.type=="Ready")].status`). Understood are fields, `['quoted']` fields,
 * indices, `[*]`, slices, and filters that compare a path with a literal by `==`, `!=`, `<`, `<=`, `>`, `>=`.
 *
 * @returns the values found, in order; empty when the path leads nowhere or is not understood
 */
export function findByPath(object: unknown, path: string): readonly unknown[] {
  let steps = parsed.get(path);
  if (steps === undefined) {
    steps = parsePath(path) ?? [() => []];
    if (parsed.size > 5_000) parsed.clear();
    parsed.set(path, steps);
  }
  let values: readonly unknown[] = [object];
  for (const step of steps) {
    spendTime();
    values = values.flatMap(step);
  }
  return values;
}

/** Parses a path; `undefined` when it is not understood. */
function parsePath(path: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  let rest = path
    .trim()
    .replace(/^\{(.*)\}$/su, "$1")
    .replace(/^\$/u, "");
  if (rest !== "" && !rest.startsWith(".") && !rest.startsWith("[")) rest = `.${rest}`;
  while (rest !== "") {
    const deep = /^\.\.((?:[^.[\]\\]|\\.)+)/su.exec(rest);
    if (deep !== null) {
      steps.push(descendStep((deep[1] ?? "").replaceAll(/\\(.)/gsu, "$1")));
      rest = rest.slice(deep[0].length);
      continue;
    }
    const field = /^\.((?:[^.[\]\\]|\\.)+)/su.exec(rest);
    const bracket =
      field === null ? /^\[(\?\((?:[^"'()]|"[^"]*"|'[^']*')*\)|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\]]*)\]/su.exec(rest) : null;
    if (field !== null) steps.push(fieldStep((field[1] ?? "").replaceAll(/\\(.)/gsu, "$1")));
    else if (bracket !== null) {
      const step = bracketStep((bracket[1] ?? "").trim());
      if (step === undefined) return undefined;
      steps.push(step);
    } else if (rest === ".") return steps;
    else return undefined;
    rest = rest.slice((field ?? bracket)?.[0].length ?? rest.length);
  }
  return steps;
}

function fieldStep(name: string): Step {
  if (name === "*") return allValues;
  return (value) => (isObject(value) && Object.hasOwn(value, name) ? [getOwn(value, name)] : []);
}

const allValues: Step = (value) => (Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []);

function bracketStep(inside: string): Step | undefined {
  if (inside === "*") return allValues;
  if (/^(['"]).*\1$/su.test(inside)) return fieldStep(inside.slice(1, -1).replaceAll(/\\(.)/gsu, "$1"));
  if (/^-?\d+$/u.test(inside))
    return (value) => (Array.isArray(value) && value.at(Number(inside)) !== undefined ? [value.at(Number(inside))] : []);
  const slice = /^(-?\d*):(-?\d*)$/u.exec(inside);
  if (slice !== null) {
    const [, from = "", to = ""] = slice;
    return (value) =>
      Array.isArray(value) ? sliceWithin(value, from === "" ? 0 : Number(from), to === "" ? value.length : Number(to)) : [];
  }
  return inside.startsWith("?(") && inside.endsWith(")") ? filterStep(inside.slice(2, -1).trim()) : undefined;
}

/** A slice that reaches beyond its list is an error in Go, and a column with an error is empty. */
function sliceWithin(list: readonly unknown[], from: number, to: number): readonly unknown[] {
  const start = from < 0 ? from + list.length : from;
  const end = to < 0 ? to + list.length : to;
  return start < 0 || end > list.length || start > end ? [] : list.slice(start, end);
}

/** Every value of that name, however deep: first the place itself, then what lies below in the order of its names. */
function descendStep(name: string): Step {
  const search = (value: unknown): readonly unknown[] => {
    if (Array.isArray(value)) return value.flatMap(search);
    if (!isObject(value)) return [];
    const own = name === "*" ? Object.values(value) : Object.hasOwn(value, name) ? [getOwn(value, name)] : [];
    return [
      ...own,
      ...Object.keys(value)
        .toSorted()
        .flatMap((key) => search(value[key])),
    ];
  };
  return search;
}

function filterStep(condition: string): Step | undefined {
  const parts = /^@((?:[^=!<>"']|\['[^']*'\])*?)\s*(?:(==|!=|<=|>=|<|>)\s*(.+))?$/su.exec(condition);
  const steps = parts === null ? undefined : parsePath(parts[1] ?? "");
  if (parts === null || steps === undefined) return undefined;
  const [, , operator, literal] = parts;
  const wanted = literal === undefined ? undefined : parseLiteral(literal.trim());
  if (literal !== undefined && wanted === undefined) return undefined;
  const matches = (item: unknown): boolean => {
    let found: readonly unknown[] = [item];
    for (const step of steps) found = found.flatMap(step);
    if (operator === undefined) return found.length > 0;
    return found.length > 0 && compare(found[0], operator, wanted);
  };
  return (value) => (Array.isArray(value) ? value.filter(matches) : []);
}

function parseLiteral(text: string): string | number | boolean | undefined {
  if (/^(['"]).*\1$/su.test(text)) return text.slice(1, -1);
  if (text === "true" || text === "false") return text === "true";
  return /^-?\d+(\.\d+)?$/u.test(text) ? Number(text) : undefined;
}

function compare(left: unknown, operator: string, right: unknown): boolean {
  if (operator === "==") return left === right;
  if (operator === "!=") return left !== right;
  if (typeof left !== typeof right || (typeof left !== "number" && typeof left !== "string")) return false;
  const [a, b] = [left, right as typeof left];
  return operator === "<" ? a < b : operator === "<=" ? a <= b : operator === ">" ? a > b : a >= b;
}
