import type { SchemaNode } from "../schema/types.ts";

const step = /\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/uy;

/**
 * Where the `fieldPath` of a rule points, as field errors write it (`spec.a`, `labels[x]`), relative to the rule; `undefined` for what is no
 * path in the schema. Steps are `.name` and `['name']`; lists have none.
 */
export function resolveFieldPath(fieldPath: string, node: SchemaNode): string | undefined {
  let at: SchemaNode | undefined = node;
  let path = "";
  step.lastIndex = 0;
  while (step.lastIndex < fieldPath.length) {
    const found = step.exec(fieldPath);
    if (found === null) return undefined;
    const name = found[1] ?? (found[2] ?? "").replaceAll(/\\(.)/gsu, "$1");
    const property: SchemaNode | undefined = at.properties.get(name);
    if (at.properties.size > 0) {
      at = property;
      path += `${path === "" ? "" : "."}${name}`;
    } else {
      at = at.additional === true ? undefined : at.additional;
      path += `[${name}]`;
    }
    if (at === undefined) return undefined;
  }
  return path === "" ? undefined : path;
}
