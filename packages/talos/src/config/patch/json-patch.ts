import { isNull } from "../document/load.ts";
import { ConfigError } from "../errors.ts";
import { emitYaml, type YamlValue } from "../yaml/emit.ts";
import { sortedByKey } from "../yaml/key-order.ts";
import type { YamlNode } from "../yaml/node.ts";
import { readYaml, type ReadLimits } from "../yaml/read.ts";
import { applyOperation, JsonPatchRefusal, type JsonOperation } from "./json-operations.ts";
import { jsonOf, operationJsonOf, type JsonValue } from "./json-value.ts";

/** Reads a list of operations, as JSON or YAML; `undefined` when the text is no such list. */
export function tryLoadJsonPatch(text: string, limits: ReadLimits): readonly JsonOperation[] | undefined {
  let root: YamlNode | undefined;
  try {
    root = readYaml(isJson(text) ? jsonAsYaml(text) : text, limits)[0]?.root;
  } catch (error) {
    // Not YAML: the caller reports what reading it as a fragment gave.
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
  // Talos takes what says nothing for a list without operations.
  if (root === undefined || isNull(root)) return [];
  if (root.type !== "sequence" || !root.items.every((item) => item.type === "mapping")) return undefined;
  return root.items.map((item) => {
    const fields = operationJsonOf(item) as Map<string, JsonValue>;
    const text = (name: string): string | undefined => {
      const value = fields.get(name);
      return typeof value === "string" ? value : undefined;
    };
    return { op: text("op") ?? "unknown", path: text("path"), from: text("from"), value: fields.get("value") };
  });
}

/** Talos reads JSON first, which takes tabs and an escaped slash where YAML does not. */
function jsonAsYaml(json: string): string {
  return json.trim().replaceAll(/\\(.)/gs, (escape, char) => (char === "/" ? "/" : escape));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // It may be YAML.
    return false;
  }
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
  let value: JsonValue = root === undefined ? null : configJson(root);
  for (const operation of operations) {
    try {
      value = applyOperation(value, operation);
    } catch (error) {
      if (!(error instanceof JsonPatchRefusal)) throw error;
      const detail = `failure applying rfc6902 patches to talos machine config: ${error.message}`;
      throw new ConfigError("JSON_PATCH", detail, { path: operation.path?.slice(0, 256) });
    }
  }
  return emitYaml(printable(value), { indent: 2, isOlder: true });
}

function configJson(root: YamlNode): JsonValue {
  try {
    return jsonOf(root);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const detail = `failure converting talos machine config to json: ${error.detail}`;
    throw new ConfigError(error.code, detail, { line: error.line, column: error.column }, { cause: error });
  }
}

function printable(value: JsonValue): YamlValue {
  if (Array.isArray(value)) return value.map(printable);
  return value instanceof Map ? sortedByKey(new Map([...value].map(([key, member]) => [key, printable(member)])), true) : value;
}
