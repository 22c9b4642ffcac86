import { isSameJson, type JsonValue } from "./json-value.ts";

/** One RFC 6902 operation as it was read. What is absent is `undefined`; a `value` that is null is null. */
export interface JsonOperation {
  readonly op: string;
  readonly path: string | undefined;
  readonly from: string | undefined;
  readonly value: JsonValue | undefined;
}

/** Why an operation does not apply, in the words of the library that Talos uses. */
export class JsonPatchRefusal extends Error {}

/**
 * A document with one operation applied, by the rules of Talos's library where they differ from the RFC: a replacement may name a member that
 * is not there, a copy of nothing is null, negative indices count from the end, only a replacement and a test may name the whole document.
 *
 * @throws JsonPatchRefusal
 */
export function applyOperation(root: JsonValue, operation: JsonOperation): JsonValue {
  const { op, value } = operation;
  switch (op) {
    case "add":
      return add(root, given(operation, "path"), value ?? null);
    case "remove":
      return remove(root, given(operation, "path"));
    case "replace":
      return replace(root, given(operation, "path"), value);
    case "move": {
      const from = given(operation, "from");
      const moved = valueAt(
        root,
        from,
        `move operation does not apply: doc is missing from path: ${from}`,
        `error in move for path: '${lastOf(from)}'`,
      );
      return add(removeAs(root, from, "move"), given(operation, "path"), moved, "move");
    }
    case "copy": {
      const from = given(operation, "from");
      const copied = valueAt(
        root,
        from,
        `copy operation does not apply: doc is missing from path: ${from}`,
        `error in copy for from: '${from}'`,
      );
      return add(root, given(operation, "path"), copied, "copy");
    }
    case "test":
      return test(root, given(operation, "path"), value);
    default:
      throw new JsonPatchRefusal(`Unexpected kind: ${op.slice(0, 64)}`);
  }
}

function given({ op, path, from }: JsonOperation, field: "path" | "from"): string {
  const value = field === "path" ? path : from;
  if (value === undefined) throw new JsonPatchRefusal(`${op} operation failed to decode ${field}: missing value`);
  return value;
}

function add(root: JsonValue, path: string, value: JsonValue, op: "add" | "move" | "copy" = "add"): JsonValue {
  const missing =
    op === "add"
      ? `add operation does not apply: doc is missing path: "${path}"`
      : `${op} operation does not apply: doc is missing destination path: ${path}`;
  return change(root, path, missing, (parent, key) => {
    if (parent instanceof Map) return new Map(parent).set(key, value);
    if (key === "-") return [...parent, value];
    return parent.toSpliced(indexOf(key, parent.length + 1, `error in ${op} for path: '${path}'`), 0, value);
  });
}

function remove(root: JsonValue, path: string): JsonValue {
  return removeAs(root, path, "remove");
}

function removeAs(root: JsonValue, path: string, op: "remove" | "move"): JsonValue {
  const missing =
    op === "remove"
      ? `remove operation does not apply: doc is missing path: "${path}"`
      : `move operation does not apply: doc is missing from path: ${path}`;
  const place = `error in ${op} for path: '${op === "move" ? lastOf(path) : path}'`;
  return change(root, path, missing, (parent, key) => {
    if (!(parent instanceof Map)) return parent.toSpliced(indexOf(key, parent.length, place), 1);
    if (!parent.has(key)) throw new JsonPatchRefusal(`${place}: Unable to remove nonexistent key: ${key}: missing value`);
    const rest = new Map(parent);
    rest.delete(key);
    return rest;
  });
}

function replace(root: JsonValue, path: string, value: JsonValue | undefined): JsonValue {
  if (path === "") {
    if (value instanceof Map || Array.isArray(value)) return value;
    throw new JsonPatchRefusal("replace operation value must be object or array: missing value");
  }
  return change(root, path, `replace operation does not apply: doc is missing path: ${path}`, (parent, key) => {
    if (parent instanceof Map) return new Map(parent).set(key, value ?? null);
    return parent.with(indexOf(key, parent.length, `replace operation does not apply: doc is missing key: ${path}`), value ?? null);
  });
}

function test(root: JsonValue, path: string, value: JsonValue | undefined): JsonValue {
  const there =
    path === ""
      ? root
      : valueAt(root, path, `test operation does not apply: is missing path: ${path}`, `error in test for path: '${path}'`);
  if (!isSameJson(there, value ?? null)) throw new JsonPatchRefusal(`testing value ${path} failed: test failed`);
  return root;
}

type Container = JsonValue[] | Map<string, JsonValue>;

/** A copy of the tree in which the container at the end of the path is changed. */
function change(root: JsonValue, path: string, missing: string, edit: (parent: Container, key: string) => Container): JsonValue {
  const steps = stepsOf(path);
  const [parent, key] = parentAt(root, steps, missing);
  let changed: JsonValue = edit(parent, key);
  for (let depth = steps.length - 2; depth >= 0; depth--) {
    const [around] = parentAt(root, steps.slice(0, depth + 1), missing);
    const step = steps[depth] as string;
    changed = around instanceof Map ? new Map(around).set(step, changed) : around.with(indexOf(step, around.length, missing), changed);
  }
  return changed;
}

/** A value, null where a mapping does not have it. */
function valueAt(root: JsonValue, path: string, missing: string, place: string): JsonValue {
  const [parent, key] = parentAt(root, stepsOf(path), missing);
  return parent instanceof Map ? (parent.get(key) ?? null) : (parent[indexOf(key, parent.length, place)] as JsonValue);
}

function parentAt(root: JsonValue, steps: readonly string[], missing: string): readonly [parent: Container, key: string] {
  let current: JsonValue | undefined = root;
  for (const step of steps.slice(0, -1)) {
    if (current instanceof Map) current = current.get(step);
    else if (Array.isArray(current)) current = current[indexOf(step, current.length, missing)];
  }
  if (steps.length === 0 || !(current instanceof Map || Array.isArray(current))) throw new JsonPatchRefusal(`${missing}: missing value`);
  return [current, steps.at(-1) as string];
}

/** An index below a limit; a negative one counts from there. A place that speaks of something missing says enough by itself. */
function indexOf(key: string, limit: number, place: string): number {
  const refusal = (detail: string): JsonPatchRefusal =>
    new JsonPatchRefusal(place.includes("doc is missing") ? `${place}: missing value` : `${place}: ${detail}`);
  if (!/^[-+]?\d{1,9}$/.test(key)) throw refusal(`strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`);
  const index = Number(key);
  const counted = index < 0 ? index + limit : index;
  if (counted < 0 || counted >= limit) throw refusal(`Unable to access invalid index: ${index}: invalid index referenced`);
  return counted;
}

/** None for a path without a slash, which names nothing. */
function stepsOf(path: string): readonly string[] {
  return path
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function lastOf(path: string): string {
  return stepsOf(path).at(-1) ?? "";
}
