import { compileNode, type ValidationNode } from "../schema/node.ts";
import type { FieldError, JsonSchema } from "../schema/types.ts";
import { checkRules } from "./rules.ts";

/** Type-checks every CEL rule of a schema. `path` is where the schema stands in the CRD. */
export function checkRulesOfSchema(schema: JsonSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  visit(compileNode(schema), true, true, path, errors);
  return errors;
}

function visit(node: ValidationNode, root: boolean, correlatable: boolean, path: string, errors: FieldError[]): void {
  if (!node.rulesBelow) return;
  errors.push(...checkRules(node, root, correlatable, path));
  const atomic = node.type === "object" && node.mapType === "atomic" && !root;
  const below = correlatable && !atomic;
  for (const [name, child] of node.properties) visit(child, false, below, `${path}.properties[${name}]`, errors);
  if (node.additional !== undefined && node.additional !== true)
    visit(node.additional, false, below, `${path}.additionalProperties`, errors);
  if (node.items !== undefined) visit(node.items, false, below && node.listType === "map", `${path}.items`, errors);
}
