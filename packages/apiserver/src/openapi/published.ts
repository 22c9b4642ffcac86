import { brotliDecompressSync } from "node:zlib";
import { isObject, type JsonObject } from "../json.ts";
import { packedSchemas } from "./gen/published.ts";

let unpacked: Readonly<Record<string, JsonObject>> | undefined;

/** The schemas of built-in kinds as the genuine server publishes them, with all their words; unpacked when somebody asks for the first time. */
function schemas(): Readonly<Record<string, JsonObject>> {
  unpacked ??= JSON.parse(brotliDecompressSync(Buffer.from(packedSchemas, "base64")).toString()) as Record<string, JsonObject>;
  return unpacked;
}

/** The published schema of a definition; `undefined` when there is none. References begin with `#/components/schemas/`. */
export function publishedSchema(name: string): JsonObject | undefined {
  return Object.hasOwn(schemas(), name) ? schemas()[name] : undefined;
}

/** Puts a published schema and all that it refers to into `target`, in the place of what is there. False when there is none. */
export function addPublished(target: JsonObject, name: string): boolean {
  const schema = publishedSchema(name);
  if (schema === undefined) return false;
  if (target[name] === schema) return true;
  target[name] = schema;
  for (const reference of referencesIn(schema)) addPublished(target, reference);
  return true;
}

const prefix = "#/components/schemas/";

function* referencesIn(value: unknown): Generator<string> {
  if (Array.isArray(value)) {
    for (const item of value) yield* referencesIn(item);
  } else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      // A property may be called $ref as well: that of JSONSchemaProps is.
      if (key === "$ref" && typeof inner === "string") yield inner.slice(prefix.length);
      else yield* referencesIn(inner);
    }
  }
}
