import type { JsonSchema } from "./json-schema.ts";

/** A value as an API server stores it: fields that are absent and have a default get it, and so do those of what the defaults bring. */
export function withDefaults(schema: JsonSchema, value: unknown): unknown {
  const { properties = {}, additionalProperties, items } = schema;
  if (Array.isArray(value)) return items === undefined ? value : value.map((item) => withDefaults(items, item));
  if (typeof value !== "object" || value === null) return value;
  const filled: Record<string, unknown> = { ...value };
  for (const [name, field] of Object.entries(properties)) if (field.default !== undefined) filled[name] ??= field.default;
  for (const [name, given] of Object.entries(filled)) {
    const field = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (field !== undefined && given !== undefined) filled[name] = withDefaults(field, given);
  }
  return filled;
}
