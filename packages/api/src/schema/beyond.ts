import type { JsonSchema } from "./json-schema.ts";

/**
 * The path of the first thing in a value that its schema does not know: a field without a place in it, or a word outside its closed set. `undefined` =
 * there is none. Whatever a newer release adds shows here, where a cast would pass it over.
 *
 * @param path what the value itself is called
 */
export function beyondSchema(value: unknown, schema: JsonSchema, path: string): string | undefined {
  if (typeof value === "string")
    return schema.enum === undefined || schema.enum.includes(value) ? undefined : `${path}: ${value.slice(0, 64)}`;
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return path;
    for (const item of value) {
      const found = beyondSchema(item, items, `${path}[]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const { properties, additionalProperties } = schema;
  for (const [name, child] of Object.entries(value)) {
    const known = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    const place = `${path}.${name.slice(0, 64)}`;
    const found = known === undefined ? place : beyondSchema(child, known, place);
    if (found !== undefined) return found;
  }
  return undefined;
}
