import type { Environment } from "@marcbachmann/cel-js";
import type { SchemaNode } from "../schema/types.ts";
import { escapeField } from "./names.ts";

/**
 * Declares the CEL type of a schema in `environment` and returns its name. Object types are named `Object<n>`; what the schema leaves
 * open is `dyn`.
 */
export function declareCelType(node: SchemaNode, environment: Environment, root: boolean, counter: { next: number }): string {
  if (node.intOrString || node.nullable) return "dyn";
  switch (node.type) {
    case "string":
      return textTypes[node.source.format ?? ""] ?? "string";
    case "integer":
      return "int";
    case "number":
      return "double";
    case "boolean":
      return "bool";
    case "array":
      return `list<${node.items === undefined ? "dyn" : declareCelType(node.items, environment, false, counter)}>`;
    case "object": {
      const additional = node.additional;
      if (node.properties.size === 0 && additional !== undefined) {
        return `map<string, ${additional === true ? "dyn" : declareCelType(additional, environment, false, counter)}>`;
      }
      return declareObject(node, environment, root, counter);
    }
    default:
      return "dyn";
  }
}

/** False for what has no type at all, as a whole or in its items: no rule can speak of it. */
export function hasCelType(node: SchemaNode): boolean {
  if (node.intOrString) return true;
  if (node.type === "array") return node.items !== undefined && hasCelType(node.items);
  if (node.type === "object" && node.additional !== undefined && node.additional !== true) return hasCelType(node.additional);
  return node.type !== "";
}

const textTypes: Readonly<Record<string, string>> = {
  "date-time": "google.protobuf.Timestamp",
  date: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
  byte: "bytes",
};

function declareObject(node: SchemaNode, environment: Environment, root: boolean, counter: { next: number }): string {
  const fields: Record<string, string> = {};
  for (const [name, child] of node.properties) {
    const escaped = escapeField(name);
    if (escaped === undefined) continue;
    if ((name === "metadata" && (root || node.embedded)) || !hasCelType(child)) continue;
    fields[escaped] = declareCelType(child, environment, false, counter);
  }
  if (root || node.embedded) {
    // Of metadata rules may read the name alone.
    const metadata = `Object${counter.next++}`;
    register(environment, metadata, { name: "string", generateName: "string" });
    Object.assign(fields, { apiVersion: "string", kind: "string", metadata });
  }
  const name = `Object${counter.next++}`;
  register(environment, name, fields);
  return name;
}

function register(environment: Environment, name: string, fields: Record<string, string>): void {
  environment.registerType(name, { fields });
  environment.registerOperator(`${name} == ${name}`, () => false);
}
