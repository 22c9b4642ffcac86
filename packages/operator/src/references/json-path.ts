/** A path into an object, read once. */
export type JsonPath = readonly PathStep[];

type PathStep =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "all" }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "slice"; readonly from: number | undefined; readonly to: number | undefined }
  | { readonly kind: "descend" }
  | { readonly kind: "filter"; readonly path: JsonPath; readonly test: FilterTest | undefined };

interface FilterTest {
  readonly operator: "==" | "!=";
  readonly value: unknown;
}

/** Longest path that is read, in characters. */
const MAX_LENGTH = 1_024;

/** Values after which nobody looks on: the answer is "several" already. */
const MAX_FOUND = 1_000;

/** A path that cannot be read; `message` says where and why. */
export class JsonPathError extends Error {
  override readonly name = "JsonPathError";
}

/**
 * Reads a path as Kubernetes writes them: `.status.addresses[?(@.type=="InternalIP")].address`, with or without braces and leading dot.
 *
 * Fields (also quoted in brackets, or with `\.`), indexes from either end, slices, `*`, `..`, and filters that compare with `==` or `!=` or ask whether a
 * field is there. Text around the braces, several of them, and other functions of templates are no paths to one value and are refused.
 *
 * @throws JsonPathError
 * @see kubernetes/client-go `util/jsonpath`
 */
export function parseJsonPath(text: string): JsonPath {
  if (text.length > MAX_LENGTH) throw new JsonPathError(`it is longer than ${MAX_LENGTH} characters`);
  const trimmed = text.trim();
  const inner = trimmed.startsWith("{") && trimmed.endsWith("}") ? trimmed.slice(1, -1).trim() : trimmed;
  const path = inner.startsWith("$") ? inner.slice(1) : inner;
  if (path === "" || path === ".") throw new JsonPathError("it names no field");
  const reader = new PathReader(path.startsWith(".") || path.startsWith("[") ? path : `.${path}`);
  return reader.readAll();
}

/** The values that the path leads to, in document order; at most {@link MAX_FOUND}. Missing fields lead to nothing. */
export function findByJsonPath(path: JsonPath, root: unknown): readonly unknown[] {
  let found: readonly unknown[] = [root];
  for (const step of path) {
    const next: unknown[] = [];
    for (const value of found) {
      next.push(...valuesAt(step, value));
      if (next.length > MAX_FOUND) return next.slice(0, MAX_FOUND);
    }
    found = next;
  }
  return found;
}

function valuesAt(step: PathStep, value: unknown): readonly unknown[] {
  switch (step.kind) {
    case "field":
      return isRecord(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case "all":
      return childrenOf(value).slice(0, MAX_FOUND);
    case "index": {
      if (!Array.isArray(value)) return [];
      const item: unknown = value.at(step.index);
      return item === undefined ? [] : [item];
    }
    case "slice":
      return Array.isArray(value) ? value.slice(step.from, step.to).slice(0, MAX_FOUND) : [];
    case "descend":
      return descendants(value);
    case "filter":
      return (Array.isArray(value) ? value : []).filter((item) => {
        const [shown, ...more] = findByJsonPath(step.path, item);
        if (step.test === undefined) return shown !== undefined;
        if (shown === undefined || more.length > 0) return false;
        return (shown === step.test.value) === (step.test.operator === "==");
      });
  }
}

/** The value and everything inside it; without recursion, for objects may nest as deep as an API server lets them. */
function descendants(root: unknown): readonly unknown[] {
  const all: unknown[] = [];
  const open: unknown[] = [root];
  while (open.length > 0 && all.length < MAX_FOUND) {
    const value = open.pop();
    all.push(value);
    open.push(...childrenOf(value).toReversed());
  }
  return all;
}

function childrenOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isRecord(value) ? Object.values(value) : [];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads a path from left to right. */
class PathReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readAll(): JsonPath {
    const steps: PathStep[] = [];
    while (this.#at < this.#text.length) steps.push(...this.#readStep());
    if (steps.at(-1)?.kind === "descend") throw this.#failure("nothing follows the two dots");
    return steps;
  }

  #readStep(): readonly PathStep[] {
    if (this.#take("..")) {
      if (this.#text[this.#at] === "[") return [{ kind: "descend" }];
      return [{ kind: "descend" }, this.#readName()];
    }
    if (this.#take(".")) return this.#text[this.#at] === "[" ? [] : [this.#readName()];
    if (this.#take("[")) return [this.#readBrackets()];
    throw this.#failure(`"." or "[" is expected`);
  }

  #readName(): PathStep {
    if (this.#take("*")) return { kind: "all" };
    const match = /^(?:\\.|[^\s.[\]{}()'"\\,@?*|<>=!&])+/.exec(this.#text.slice(this.#at));
    if (match === null) throw this.#failure("a field name is expected");
    this.#at += match[0].length;
    return { kind: "field", name: match[0].replaceAll(/\\(.)/g, "$1") };
  }

  #readBrackets(): PathStep {
    const rest = this.#text.slice(this.#at);
    const quoted = /^\s*(['"])((?:\\.|(?!\1)[^\\])*)\1\s*\]/.exec(rest);
    if (quoted !== null) return this.#took(quoted[0], { kind: "field", name: (quoted[2] ?? "").replaceAll(/\\(.)/g, "$1") });
    const all = /^\s*\*\s*\]/.exec(rest);
    if (all !== null) return this.#took(all[0], { kind: "all" });
    const index = /^\s*(-?\d{1,9})\s*\]/.exec(rest);
    if (index !== null) return this.#took(index[0], { kind: "index", index: Number(index[1]) });
    const slice = /^\s*(-?\d{1,9})?\s*:\s*(-?\d{1,9})?\s*\]/.exec(rest);
    if (slice !== null) return this.#took(slice[0], { kind: "slice", from: numberOf(slice[1]), to: numberOf(slice[2]) });
    const filter =
      /^\?\(\s*@([^\s=!<>)]*)\s*(?:(==|!=)\s*("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|-?\d+(?:\.\d+)?|true|false)\s*)?\)\s*\]/.exec(rest);
    if (filter === null)
      throw this.#failure('an index, a quoted field, *, a slice or a filter such as ?(@.type=="InternalIP") is expected in brackets');
    const [, inner = "", operator, value] = filter;
    const path = inner === "" ? [] : parseJsonPath(inner);
    return this.#took(filter[0], {
      kind: "filter",
      path,
      test: operator === undefined ? undefined : { operator: operator as FilterTest["operator"], value: literalOf(value ?? "") },
    });
  }

  #took(text: string, step: PathStep): PathStep {
    this.#at += text.length;
    return step;
  }

  #take(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #failure(message: string): JsonPathError {
    return new JsonPathError(`${message} at character ${this.#at + 1}`);
  }
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

function literalOf(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  return /^['"]/.test(text) ? text.slice(1, -1).replaceAll(/\\(.)/g, "$1") : Number(text);
}
