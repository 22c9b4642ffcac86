import { celType, splitTypes, type CelType } from "./cel-type.ts";

/** One way to call a function. A method has its receiver as first parameter. */
export interface Overload {
  readonly isMethod: boolean;
  readonly takes: readonly CelType[];
  readonly gives: CelType;
}

export type FunctionTable = ReadonlyMap<string, readonly Overload[]>;

/** Reads `name(int, string): bool` and, for methods, `string.name(int): bool`. */
export function functionTable(signatures: readonly string[]): FunctionTable {
  const table = new Map<string, Overload[]>();
  for (const signature of signatures) {
    const [, receiver, name = "", takes = "", gives = ""] = /^(?:(.+)\.)?([^\s.(]+)\((.*)\): (.+)$/s.exec(signature) ?? [];
    const parameters = [...(receiver === undefined ? [] : [receiver]), ...splitTypes(takes)].map(celType);
    const overloads = table.get(name) ?? [];
    overloads.push({ isMethod: receiver !== undefined, takes: parameters, gives: celType(gives) });
    table.set(name, overloads);
  }
  return table;
}

const duration = "duration";
const timestamp = "timestamp";
const ordered = ["bool", "int", "uint", "double", "string", "bytes", timestamp, duration];
const numbers = ["int", "uint", "double"];

function same(operators: readonly string[], types: readonly string[], gives?: string): string[] {
  return operators.flatMap((operator) => types.map((type) => `${operator}(${type}, ${type}): ${gives ?? type}`));
}

function conversions(to: string, from: readonly string[], gives = to): string[] {
  return from.map((type) => `${to}(${type}): ${gives}`);
}

const parts = ["getFullYear", "getMonth", "getDayOfYear", "getDayOfMonth", "getDate", "getDayOfWeek"];
const partsOfTime = ["getHours", "getMinutes", "getSeconds", "getMilliseconds"];

/** The functions and operators that the language always has. No operator mixes kinds of numbers. */
export const standardFunctions: FunctionTable = functionTable([
  "!_(bool): bool",
  "-_(int): int",
  "-_(double): double",
  ...same(["_==_", "_!=_"], ["A"], "bool"),
  ...same(["_<_", "_<=_", "_>_", "_>=_"], ordered, "bool"),
  ...same(["_+_"], [...numbers, "string", "bytes", "list(A)", duration]),
  `_+_(${timestamp}, ${duration}): ${timestamp}`,
  `_+_(${duration}, ${timestamp}): ${timestamp}`,
  ...same(["_-_"], [...numbers, duration]),
  `_-_(${timestamp}, ${timestamp}): ${duration}`,
  `_-_(${timestamp}, ${duration}): ${timestamp}`,
  ...same(["_*_", "_/_"], numbers),
  ...same(["_%_"], ["int", "uint"]),
  "_?_:_(bool, A, A): A",
  "@in(A, list(A)): bool",
  "@in(A, map(A, B)): bool",
  "_[_](list(A), int): A",
  "_[_](map(A, B), A): B",
  ...["string", "bytes", "list(A)", "map(A, B)"].flatMap((type) => [`size(${type}): int`, `${type}.size(): int`]),
  ...["contains", "startsWith", "endsWith", "matches"].map((name) => `string.${name}(string): bool`),
  "matches(string, string): bool",
  ...conversions("bool", ["bool", "string"]),
  ...conversions("bytes", ["bytes", "string"]),
  ...conversions("double", ["double", "int", "string", "uint"]),
  ...conversions("int", ["int", "double", duration, "string", timestamp, "uint"]),
  ...conversions("uint", ["uint", "double", "int", "string"]),
  ...conversions("string", ["string", "bool", "bytes", "double", duration, "int", timestamp, "uint"]),
  ...conversions("duration", [duration, "string"], duration),
  ...conversions("timestamp", [timestamp, "int", "string"], timestamp),
  "dyn(A): dyn",
  "type(A): type(A)",
  ...[...parts, ...partsOfTime].flatMap((name) => [`${timestamp}.${name}(): int`, `${timestamp}.${name}(string): int`]),
  ...partsOfTime.map((name) => `${duration}.${name}(): int`),
]);

/** What the language has beside that where values may be absent. */
export const optionalFunctions: FunctionTable = functionTable([
  "optional.of(A): optional_type(A)",
  "optional.ofNonZeroValue(A): optional_type(A)",
  "optional.none(): optional_type(A)",
  "optional_type(A).hasValue(): bool",
  "optional_type(A).value(): A",
  "optional_type(A).orValue(A): A",
  "optional_type(A).or(optional_type(A)): optional_type(A)",
  "_[_](optional_type(list(A)), int): optional_type(A)",
  "_[_](optional_type(map(A, B)), A): optional_type(B)",
]);
