import { resolveFieldPath } from "../cel/field-path.ts";
import { getOwn, isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { objectAt, objectsAt, stringAt } from "../request/json.ts";
import { fieldError } from "./field-error.ts";
import { compileNode } from "./node.ts";
import type { FieldError } from "./types.ts";

const columnTypes = ["boolean", "date", "integer", "number", "string"];
const columnFormats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
const selectableTypes = ["string", "boolean", "integer"];

/**
 * What the versions of a CRD may not say beside their schemas: paths of the scale subresource, printer columns, selectable fields. A part that all
 * versions share is named without them, once, as the genuine server hoists it.
 */
export function checkVersionParts(spec: JsonObject): readonly FieldError[] {
  const versions = objectsAt(spec, "versions");
  return (["subresources", "additionalPrinterColumns", "selectableFields"] as const).flatMap((part) => {
    const texts = new Set(versions.map((version) => JSON.stringify(version[part]) ?? ""));
    const isShared = texts.size === 1;
    return (isShared ? versions.slice(0, 1) : versions).flatMap((version, index) => {
      const at = isShared ? `spec.${part}` : `spec.versions[${index}].${part}`;
      if (part === "subresources") return checkScale(objectAt(version, part), at);
      return part === "additionalPrinterColumns" ? checkColumns(version, at) : checkSelectable(version, at);
    });
  });
}

function checkScale(subresources: JsonObject, at: string): readonly FieldError[] {
  const scale = subresources["scale"];
  if (!isObject(scale)) return [];
  const check = (field: string, below: readonly string[], why: string, isOptional = false): readonly FieldError[] => {
    const path = stringAt(scale, field) ?? "";
    const here = `${at}.scale.${field}`;
    if (path === "") return isOptional ? [] : [fieldError("FieldValueRequired", here, undefined, "")];
    const plain = checkSimplePath(path, here);
    if (plain.length > 0) return plain;
    return below.some((prefix) => path.startsWith(prefix)) ? [] : [fieldError("FieldValueInvalid", here, path, why)];
  };
  return [
    ...check("specReplicasPath", [".spec."], "should be a json path under .spec"),
    ...check("statusReplicasPath", [".status."], "should be a json path under .status"),
    ...check("labelSelectorPath", [".spec.", ".status."], "should be a json path under either .spec or .status", true),
  ];
}

function checkColumns(version: JsonObject, at: string): readonly FieldError[] {
  return objectsAt(version, "additionalPrinterColumns").flatMap((column, index) => {
    const here = `${at}[${index}]`;
    const [name, type, path] = [stringAt(column, "name") ?? "", stringAt(column, "type") ?? "", stringAt(column, "jsonPath") ?? ""];
    const format = stringAt(column, "format") ?? "";
    const mustBe = `must be one of ${columnTypes.join(",")}`;
    return [
      ...(name === "" ? [fieldError("FieldValueRequired", `${here}.name`, undefined, "")] : []),
      ...(type === ""
        ? [fieldError("FieldValueRequired", `${here}.type`, undefined, mustBe)]
        : columnTypes.includes(type)
          ? []
          : [fieldError("FieldValueInvalid", `${here}.type`, type, mustBe)]),
      ...(format === "" || columnFormats.includes(format)
        ? []
        : [fieldError("FieldValueInvalid", `${here}.format`, format, `must be one of ${columnFormats.join(",")}`)]),
      ...(path === "" ? [fieldError("FieldValueRequired", `${here}.JSONPath`, undefined, "")] : checkSimplePath(path, `${here}.JSONPath`)),
    ];
  });
}

function checkSimplePath(path: string, at: string): readonly FieldError[] {
  return path.startsWith(".") ? [] : [fieldError("FieldValueInvalid", at, path, "must be a simple json path starting with .")];
}

function checkSelectable(version: JsonObject, at: string): readonly FieldError[] {
  const schema = getOwn(objectAt(version, "schema"), "openAPIV3Schema");
  if (!isObject(schema)) return [];
  const seen = new Set<string>();
  return objectsAt(version, "selectableFields").flatMap((field, index) => {
    const here = `${at}[${index}].jsonPath`;
    const path = stringAt(field, "jsonPath") ?? "";
    const refused = (why: string): readonly FieldError[] => [fieldError("FieldValueInvalid", here, path, why)];
    if (path === "") return [fieldError("FieldValueRequired", here, undefined, "")];
    if (path.includes("[")) return refused("is an invalid path: array notation is not allowed");
    if (!path.startsWith(".")) return refused(`is an invalid path: expected [ or . but got: ${path.split(/[.[]/, 1)[0] ?? ""}`);
    if (resolveFieldPath(path, compileNode(schema)) === undefined) return refused("is an invalid path: does not refer to a valid field");
    if (/^\.metadata\b/.test(path)) return refused("must not point to fields in metadata");
    const type = typeAt(schema, path);
    if (!selectableTypes.includes(type))
      return refused("must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.");
    if (seen.has(path)) return [fieldError("FieldValueDuplicate", here, path, "")];
    seen.add(path);
    return [];
  });
}

function typeAt(schema: JsonObject, path: string): string {
  let at: JsonObject = schema;
  for (const name of path.split(".").slice(1)) at = objectAt(objectAt(at, "properties"), name);
  return stringAt(at, "type") ?? "";
}

/** Formats that somebody checks; others pass with a warning. */
const knownFormats = new Set(
  "bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 isbn isbn10 isbn13 creditcard ssn hexcolor rgbcolor byte password date duration datetime date-time k8s-short-name k8s-long-name int32 int64 float double".split(
    " ",
  ),
);

/** A warning for each format of the schemas that nobody checks, once. */
export function warningsOfFormats(spec: JsonObject): readonly string[] {
  const found = new Set<string>();
  const look = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(look);
    if (!isObject(value)) return;
    const { format, type } = value;
    if (typeof format === "string" && format !== "" && typeof type === "string" && !knownFormats.has(format)) found.add(format);
    for (const [key, inner] of Object.entries(value)) if (key !== "default" && key !== "enum" && key !== "example") look(inner);
  };
  for (const version of objectsAt(spec, "versions")) look(getOwn(objectAt(version, "schema"), "openAPIV3Schema"));
  return [...found].toSorted().map((format) => `unrecognized format ${JSON.stringify(format)}`);
}
