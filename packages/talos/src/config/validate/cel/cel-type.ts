/** A type of the Common Expression Language: `uint`, `list(string)`, the full name of a message. `dyn` fits everything; one capital letter stands for any type. */
export interface CelType {
  readonly name: string;
  readonly of: readonly CelType[];
}

export const dynType: CelType = { name: "dyn", of: [] };

/** What a wrong part of an expression has for a type: fits everything, so that one mistake is told once. */
export const errorType: CelType = { name: "!error!", of: [] };

export function isAnything({ name }: CelType): boolean {
  return name === "dyn" || name === "!error!";
}

/** A type as it is written: `map(int, double)`. */
export function celType(text: string): CelType {
  const [, name = "", inner] = /^([\w.]+)(?:\((.*)\))?$/s.exec(text.trim()) ?? [];
  return { name, of: inner === undefined ? [] : splitTypes(inner).map(celType) };
}

/** Splits at the commas that are not inside parentheses. */
export function splitTypes(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = "";
  for (const character of text) {
    if (character === "(") depth += 1;
    if (character === ")") depth -= 1;
    if (character === "," && depth === 0) {
      parts.push(part);
      part = "";
    } else part += character;
  }
  return part.trim() === "" ? parts : [...parts, part];
}

export function nameOfType({ name, of }: CelType): string {
  return of.length === 0 ? name : `${name}(${of.map(nameOfType).join(", ")})`;
}

/** Types that `null` is a value of. */
function takesNull({ name }: CelType): boolean {
  return ["null", "duration", "timestamp"].includes(name) || name.includes(".");
}

/** Whether a value of a type may stand where another type is wanted; binds the letters of the wanted type. */
export function fits(actual: CelType, wanted: CelType, bound = new Map<string, CelType>()): boolean {
  if (/^[A-Z]$/.test(wanted.name)) {
    const before = bound.get(wanted.name);
    if (before === undefined || isAnything(before)) {
      bound.set(wanted.name, actual);
      return true;
    }
    return fits(actual, before, bound);
  }
  if (isAnything(actual) || isAnything(wanted)) return true;
  if (actual.name === "null") return takesNull(wanted);
  if (wanted.name === "null") return takesNull(actual);
  if (actual.name !== wanted.name) return false;
  // The language compares types as values whatever they are types of.
  return actual.name === "type" || actual.of.every((part, index) => fits(part, wanted.of[index] ?? dynType, bound));
}

/** A type with its letters replaced by what they were bound to. */
export function bind(type: CelType, bound: ReadonlyMap<string, CelType>): CelType {
  if (/^[A-Z]$/.test(type.name)) return bound.get(type.name) ?? dynType;
  return type.of.length === 0 ? type : { name: type.name, of: type.of.map((part) => bind(part, bound)) };
}

/** The type of a list or map of several values. */
export function commonType(types: readonly CelType[]): CelType {
  const [first = dynType, ...rest] = types;
  return rest.every((type) => fits(type, first) && fits(first, type)) ? (types.find(isAnything) ?? first) : dynType;
}

/** The type of a call that several overloads take. */
export function onlyType(types: readonly CelType[]): CelType | undefined {
  const [first, ...rest] = types;
  return first === undefined || rest.every((type) => nameOfType(type) === nameOfType(first)) ? first : dynType;
}
