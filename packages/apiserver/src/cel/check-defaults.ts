import { compileNode, type ValidationNode } from "../schema/node.ts";
import type { FieldError, JsonSchema } from "../schema/types.ts";
import { isObject } from "../json.ts";
import { noOldValue } from "../schema/validate-value.ts";
import { evaluateRules } from "./rules.ts";

/**
 * Defaults that the rules beside or below them refuse, as they are written: what defaults below would fill in is not there yet. Their types were
 * checked before, and so were the rules. `path` is where the schema stands in the CRD.
 */
export function checkRulesOfDefaults(schema: JsonSchema, path: string): readonly FieldError[] {
  const node = compileNode(schema);
  return node.rulesBelow && node.defaultsBelow ? below(node, path) : [];
}

function below(node: ValidationNode, path: string): readonly FieldError[] {
  if (!node.rulesBelow || !node.defaultsBelow) return [];
  const errors: FieldError[] = [];
  if (node.hasDefault) {
    const found: FieldError[] = [];
    evaluateRules(node.defaultValue, node, noOldValue, found, []);
    const at = `${path}.default`;
    errors.push(
      ...found.map((error) => ({ ...error, field: error.field === "<nil>" || error.field === "" ? at : `${at}.${error.field}` })),
    );
  }
  for (const [name, child] of node.properties) errors.push(...below(child, `${path}.properties[${name}]`));
  if (isObject(node.additional)) errors.push(...below(node.additional as ValidationNode, `${path}.additionalProperties`));
  if (node.items !== undefined) errors.push(...below(node.items, `${path}.items`));
  return errors;
}
