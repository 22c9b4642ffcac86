import { fieldError } from "./field-error.ts";
import type { FieldError, FieldErrorReason, JsonSchema } from "./types.ts";

const scalars = ["string", "integer", "number", "boolean"];

/** Checks that the list type of a schema fits the schema, and that keys of a list of type map are there and always set. */
export function checkListType(schema: JsonSchema, path: string, errors: FieldError[]): void {
  const type = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const add = (reason: FieldErrorReason, field: string, value: unknown, detail: string): void => {
    errors.push(fieldError(reason, `${path}.${field}`, value, detail));
  };
  if (type !== undefined && schema.type !== "array") {
    add("FieldValueInvalid", "type", schema.type ?? "", "must be array if x-kubernetes-list-type is specified");
  }
  if (type !== undefined && !["atomic", "set", "map"].includes(type)) {
    add("FieldValueNotSupported", "x-kubernetes-list-type", type, `supported values: "atomic", "set", "map"`);
  }
  if (type !== "map" && keys.length > 0) {
    add("FieldValueRequired", "x-kubernetes-list-type", undefined, "must be map if x-kubernetes-list-map-keys is non-empty");
  }
  if (type === "set" && schema.items?.type === "object" && schema.items["x-kubernetes-map-type"] !== "atomic") {
    const mapType = schema.items["x-kubernetes-map-type"] ?? null;
    add("FieldValueInvalid", "items.x-kubernetes-map-type", mapType, "must be atomic as item of a list with x-kubernetes-list-type=set");
  }
  if (type === "map") checkMapKeys(schema, keys, add);
}

function checkMapKeys(
  schema: JsonSchema,
  keys: readonly string[],
  add: (reason: FieldErrorReason, field: string, value: unknown, detail: string) => void,
): void {
  if (keys.length === 0)
    add("FieldValueRequired", "x-kubernetes-list-map-keys", undefined, "must not be empty if x-kubernetes-list-type is map");
  if (schema.items?.type !== "object") {
    add("FieldValueInvalid", "items.type", schema.items?.type ?? "", "must be object if parent array's x-kubernetes-list-type is map");
    return;
  }
  for (const key of keys) {
    const property = schema.items.properties?.[key];
    const at = `items.properties[${key}]`;
    if (property === undefined)
      add("FieldValueInvalid", "x-kubernetes-list-map-keys", keys, "entries must all be names of item properties");
    else if (!scalars.includes(property.type ?? "")) {
      add("FieldValueInvalid", `${at}.type`, property.type ?? "", "must be a scalar type if parent array's x-kubernetes-list-type is map");
    } else if (property.default === undefined && schema.items.required?.includes(key) !== true) {
      const detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
      add("FieldValueRequired", `${at}.default`, undefined, detail);
    }
  }
}
