import { fieldError } from "./field-error.ts";
import type { FieldError, FieldErrorReason, JsonSchema } from "./types.ts";

/** Checks that the list type of a schema fits the schema, and that keys of a list of type map are there and always set. */
export function checkListType(schema: JsonSchema, path: string, errors: FieldError[]): void {
  const type = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const add = (reason: FieldErrorReason, field: string, value: unknown, detail: string): void => {
    errors.push(fieldError(reason, `${path}.${field}`, value, detail));
  };
  if (type !== undefined && schema.type !== "array") {
    const isMissing = (schema.type ?? "") === "";
    const why = "must be array if x-kubernetes-list-type is specified";
    add(isMissing ? "FieldValueRequired" : "FieldValueInvalid", "type", schema.type, why);
  }
  if (type !== undefined && !["atomic", "set", "map"].includes(type)) {
    add("FieldValueNotSupported", "x-kubernetes-list-type", type, `supported values: "atomic", "set", "map"`);
  }
  if (type !== "map" && keys.length > 0) {
    const why = "must be map if x-kubernetes-list-map-keys is non-empty";
    add(type === undefined ? "FieldValueRequired" : "FieldValueInvalid", "x-kubernetes-list-type", type, why);
  }
  if (type === "set" && schema.items?.type === "object" && schema.items["x-kubernetes-map-type"] !== "atomic") {
    const mapType = schema.items["x-kubernetes-map-type"] ?? null;
    add("FieldValueInvalid", "items.x-kubernetes-map-type", mapType, "must be atomic as item of a list with x-kubernetes-list-type=set");
  }
  const inner = schema.items?.["x-kubernetes-list-type"];
  if (type === "set" && schema.items?.type === "array" && inner !== undefined && inner !== "atomic") {
    add("FieldValueInvalid", "items.x-kubernetes-list-type", inner, "must be atomic as item of a list with x-kubernetes-list-type=set");
  }
  if (type === "map") checkMapKeys(schema, keys, add);
  if ((type === "set" || type === "map") && schema.items?.nullable === true)
    add("FieldValueForbidden", "items.nullable", undefined, `cannot be nullable when x-kubernetes-list-type is ${type}`);
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
  keys.forEach((key, index) => {
    const property = schema.items?.properties?.[key];
    if (property === undefined)
      add("FieldValueInvalid", "x-kubernetes-list-map-keys", keys, "entries must all be names of item properties");
    else if (property.type === "array" || property.type === "object") {
      const why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      add("FieldValueInvalid", `items.properties[${key}].type`, "object", why);
    }
    if (keys.indexOf(key) < index) add("FieldValueInvalid", "x-kubernetes-list-map-keys", keys, "must not contain duplicate entries");
  });
  for (const key of keys) {
    const property = schema.items.properties?.[key];
    const at = `items.properties[${key}]`;
    if (property === undefined) continue;
    if (property.default === undefined && schema.items.required?.includes(key) !== true) {
      const detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
      add("FieldValueRequired", `${at}.default`, undefined, detail);
    }
    if (property.nullable === true)
      add("FieldValueForbidden", `${at}.nullable`, undefined, "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
  }
}
