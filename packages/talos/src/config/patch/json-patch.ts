import { ConfigError } from "../errors.ts";
import { emitYaml, type YamlValue } from "../yaml/emit.ts";
import { sortedByKey } from "../yaml/key-order.ts";
import { readYaml, type ReadLimits, type YamlNode } from "../yaml/read.ts";
import { isSameJson, jsonOf, type JsonValue } from "./json-value.ts";

/** One operation of RFC 6902. */
export interface JsonOperation {
  readonly op: string;
  readonly path: string;
  readonly from: string;
  /** `undefined` when the operation has none. */
  readonly value: JsonValue | undefined;
}

/** Reads a list of operations, as JSON or YAML; `undefined` when the text is no such list. */
export function tryLoadJsonPatch(text: string, limits: ReadLimits): readonly JsonOperation[] | undefined {
  let root: YamlNode | undefined;
  try {
    root = readYaml(text, limits)[0]?.root;
  } catch (error) {
    // Not YAML: the caller reports what reading it as a fragment gave.
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
  if (root === undefined) return [];
  if (root.type !== "sequence" || !root.items.every((item) => item.type === "mapping")) return undefined;
  return root.items.map((item) => {
    const fields = jsonOf(item) as Map<string, JsonValue>;
    const text = (name: string): string => {
      const value = fields.get(name);
      return typeof value === "string" ? value : "";
    };
    return { op: text("op"), path: text("path"), from: text("from"), value: fields.get("value") };
  });
}

/**
 * A config of one document with operations applied, printed with sorted keys and two spaces a level, as the genuine tool prints it.
 *
 * @throws ConfigError `JSON_PATCH`, `JSON_PATCH_MULTI_DOCUMENT`
 */
export function applyJsonPatch(config: string, operations: readonly JsonOperation[]): string {
  const documents = readYaml(config);
  if (documents.length !== 1) {
    throw new ConfigError("JSON_PATCH_MULTI_DOCUMENT", "JSON6902 patches are not supported for multi-document machine configuration");
  }
  const root = documents[0]?.root;
  let value: JsonValue = root === undefined ? null : jsonOf(root);
  for (const operation of operations) {
    try {
      value = applyOperation(value, operation);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const detail = `failure applying rfc6902 patches to talos machine config: ${error.message}`;
      throw new ConfigError("JSON_PATCH", detail, { path: operation.path.slice(0, 256) });
    }
  }
  return emitYaml(printable(value), { indent: 2, listsAtKey: true });
}

class Refusal extends Error {}

function applyOperation(root: JsonValue, { op, path, from, value }: JsonOperation): JsonValue {
  switch (op) {
    case "add":
      return add(root, path, value ?? null);
    case "remove":
      return remove(root, path);
    case "replace":
      return replace(root, path, value ?? null);
    case "move": {
      const moved = lookup(root, from);
      if (moved === undefined) throw new Refusal(`move operation does not apply: doc is missing from path: ${from}: missing value`);
      return add(remove(root, from), path, moved);
    }
    case "copy": {
      const copied = lookup(root, from);
      if (copied === undefined) throw new Refusal(`copy operation does not apply: doc is missing from path: ${from}: missing value`);
      return add(root, path, copied);
    }
    case "test": {
      const there = lookup(root, path);
      if (there === undefined && value === undefined) return root;
      if (!isSameJson(there ?? null, value ?? null)) throw new Refusal(`testing value ${path} failed: test failed`);
      return root;
    }
    default:
      throw new Refusal(`Unexpected kind: ${op.slice(0, 64)}`);
  }
}

function add(root: JsonValue, path: string, value: JsonValue): JsonValue {
  const steps = stepsOf(path);
  if (steps.length === 0) return value;
  return change(root, steps, `add operation does not apply: doc is missing path: "${path}": missing value`, (parent, key) => {
    if (parent instanceof Map) return new Map(parent).set(key, value);
    if (key === "-") return [...parent, value];
    return parent.toSpliced(indexOf(key, parent.length, "add", path), 0, value);
  });
}

function remove(root: JsonValue, path: string): JsonValue {
  return change(root, stepsOf(path), `remove operation does not apply: doc is missing path: "${path}": missing value`, (parent, key) => {
    if (parent instanceof Map) {
      if (!parent.has(key)) throw new Refusal(`remove operation does not apply: doc is missing key: ${path}: missing value`);
      const rest = new Map(parent);
      rest.delete(key);
      return rest;
    }
    return parent.toSpliced(indexOf(key, parent.length - 1, "remove", path), 1);
  });
}

function replace(root: JsonValue, path: string, value: JsonValue): JsonValue {
  const steps = stepsOf(path);
  if (steps.length === 0) return value;
  return change(root, steps, `replace operation does not apply: doc is missing path: ${path}: missing value`, (parent, key) => {
    if (parent instanceof Map) {
      if (!parent.has(key)) throw new Refusal(`replace operation does not apply: doc is missing key: ${path}: missing value`);
      return new Map(parent).set(key, value);
    }
    return parent.with(indexOf(key, parent.length - 1, "replace", path), value);
  });
}

type Container = JsonValue[] | Map<string, JsonValue>;

/** A copy of the tree in which the container at the end of the path is changed. */
function change(
  root: JsonValue,
  steps: readonly string[],
  missing: string,
  edit: (parent: Container, key: string) => Container,
): JsonValue {
  const [step = "", ...rest] = steps;
  if (!(root instanceof Map) && !Array.isArray(root)) throw new Refusal(missing);
  if (rest.length === 0) return edit(root, step);
  const child = memberOf(root, step);
  if (child === undefined) throw new Refusal(missing);
  const changed = change(child, rest, missing, edit);
  return root instanceof Map ? new Map(root).set(step, changed) : root.with(Number(step), changed);
}

function lookup(root: JsonValue, path: string): JsonValue | undefined {
  let current: JsonValue | undefined = root;
  for (const step of stepsOf(path)) current = current === undefined ? undefined : memberOf(current, step);
  return current;
}

function memberOf(value: JsonValue, step: string): JsonValue | undefined {
  if (value instanceof Map) return value.get(step);
  return Array.isArray(value) && /^(?:0|[1-9]\d{0,8})$/.test(step) ? value[Number(step)] : undefined;
}

function indexOf(key: string, limit: number, operation: string, path: string): number {
  const index = /^(?:0|[1-9]\d{0,8})$/.test(key) ? Number(key) : -1;
  if (index < 0 || index > limit)
    throw new Refusal(
      `${operation} operation does not apply: error in ${operation} for path: '${path}': Unable to access invalid index: ${key}: invalid index referenced`,
    );
  return index;
}

function stepsOf(path: string): readonly string[] {
  return path === ""
    ? []
    : path
        .split("/")
        .slice(1)
        .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function printable(value: JsonValue): YamlValue {
  if (Array.isArray(value)) return value.map(printable);
  return value instanceof Map ? sortedByKey(new Map([...value].map(([key, member]) => [key, printable(member)]))) : value;
}
