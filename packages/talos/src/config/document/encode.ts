import type { Field, Type } from "../schema/notation.ts";
import type { YamlValue } from "../yaml/emit.ts";
import { BlockScalar, PlainScalar } from "../yaml/plain-scalar.ts";
import { isOldBoolean, isSexagesimal } from "../yaml/resolve.ts";
import { sortedByKey } from "../yaml/key-order.ts";
import type { ConfigMap, ConfigValue } from "./value.ts";

/** A document as it is printed: fields in the order of the type, empty ones left out where the type says so, map keys sorted. */
export function encode(type: Type, value: ConfigValue | undefined): YamlValue {
  switch (type.kind) {
    case "pointer":
      return value === undefined || value === null ? null : encode(type.to, value);
    case "struct":
      return encodeStruct(type.fields, value instanceof Map ? value : new Map());
    case "list":
      return Array.isArray(value) ? value.map((item) => encode(type.item, item)) : [];
    case "map":
      return value instanceof Map ? sorted(value, (member) => encode(type.value, member)) : {};
    case "any":
      return value === undefined ? (type.isMapping ? {} : null) : encodeAny(value);
    case "argument":
      return Array.isArray(value) ? value.map((item) => argument(item as string)) : value ? argument(value as string) : null;
    case "codec": {
      const text = (value as string | undefined) ?? type.codec.zero;
      return type.codec.isPlain?.(text) === true ? new PlainScalar(text) : text;
    }
    case "string":
      return (value as string | undefined) ?? "";
    case "bool":
      return (value as boolean | undefined) ?? false;
    case "int":
    case "uint":
      return (value as bigint | undefined) ?? 0n;
  }
}

/** Whether the field would be left out as empty: a struct is when all that it holds is, also lists and maps that are there but empty. */
function isEmpty(type: Type, value: ConfigValue | undefined): boolean {
  if (value === undefined || value === null) return true;
  switch (type.kind) {
    case "pointer":
      return false;
    case "list":
      return (value as readonly ConfigValue[]).length === 0;
    case "map":
      return (value as ConfigMap).size === 0;
    case "any":
      return type.isMapping && value instanceof Map && value.size === 0;
    case "struct":
      return type.fields
        .filter(({ name }) => decidesAlone[type.name]?.includes(name) ?? true)
        .every((field) => isEmpty(field.type, (value as ConfigMap).get(field.name)));
    default:
      return isZero(type, value);
  }
}

/** Structs that Talos takes for empty although other fields than these are set. */
const decidesAlone: Readonly<Record<string, readonly string[]>> = { "block.EncryptionSpec": ["provider", "keys"] };

/** Whether the value is Go's zero value: an empty list that is present is not. */
export function isZero(type: Type, value: ConfigValue | undefined): boolean {
  if (value === undefined) return true;
  switch (type.kind) {
    case "struct":
      return type.fields.every((field) => isZero(field.type, (value as ConfigMap).get(field.name)));
    case "string":
      return value === "";
    case "bool":
      return value === false;
    case "int":
    case "uint":
      return value === 0n;
    case "codec":
      return value === type.codec.zero || value === "";
    case "argument":
      return value === "";
    case "any":
    case "pointer":
    case "list":
    case "map":
      return value === null;
  }
}

/** Arguments write themselves: what only YAML 1.1 reads as something else gets no quotes, and lines without any text stay lines. */
function argument(text: string): YamlValue {
  if (/^\n+$/.test(text)) return new BlockScalar(text);
  if (text === "<<") return new PlainScalar('"<<"');
  return isOldBoolean(text) || isSexagesimal(text) ? new PlainScalar(text) : text;
}

function encodeStruct(fields: readonly Field[], members: ConfigMap): YamlValue {
  const out = new Map<string, YamlValue>();
  for (const { name, type, omitsEmpty } of fields) {
    const value = members.get(name);
    if (omitsEmpty && isEmpty(type, value)) continue;
    out.set(name, encode(type, value));
  }
  return out;
}

function encodeAny(value: ConfigValue): YamlValue {
  if (Array.isArray(value)) return value.map(encodeAny);
  return value instanceof Map ? sorted(value, encodeAny) : value;
}

function sorted(members: ConfigMap, print: (value: ConfigValue) => YamlValue): YamlValue {
  return new Map([...sortedByKey(members)].map(([key, value]) => [key, print(value)]));
}
