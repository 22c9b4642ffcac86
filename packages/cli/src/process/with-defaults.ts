import { crds } from "@talos-operator/api";
import type { JsonSchema } from "@talos-operator/api";
import type { ManifestObject } from "./manifest.ts";

/** The object as the API server stores it: with the defaults of its kind. */
export function withDefaults(object: ManifestObject): ManifestObject {
  const schema = crds.find(({ spec }) => spec.names.kind === object.kind)?.spec.versions[0]?.schema.openAPIV3Schema;
  return schema === undefined ? object : (filled(object, schema) as ManifestObject);
}

function filled(value: unknown, schema: JsonSchema): unknown {
  const { items, properties } = schema;
  if (Array.isArray(value)) return items === undefined ? value : value.map((item) => filled(item, items));
  if (typeof value !== "object" || value === null || properties === undefined) return value;
  const known = Object.entries(properties).flatMap(([name, field]) => {
    const given = (value as Readonly<Record<string, unknown>>)[name] ?? field.default;
    return given === undefined ? [] : [[name, filled(given, field)] as const];
  });
  return { ...value, ...Object.fromEntries(known) };
}
