import { create, ScalarType, toBinary } from "@bufbuild/protobuf";
import type { DescEnum, DescField, DescMessage } from "@bufbuild/protobuf";
import { addressBytes } from "../node/identity.ts";

/** A plain spec (YAML keys) as it appears in `yaml_spec`. */
export type PlainSpec = Readonly<Record<string, unknown>>;

/**
 * The `proto_spec` of a resource from its plain spec. Fields are matched by name without case and underscores; enums by the end of their
 * value's name; addresses become bytes. What the message does not know is left out.
 */
export function encodeSpec(schema: DescMessage, spec: PlainSpec): Uint8Array {
  return toBinary(schema, create(schema, initFor(schema, spec)));
}

function initFor(schema: DescMessage, spec: PlainSpec): Record<string, unknown> {
  const values = new Map(Object.entries(spec).map(([key, value]) => [plainName(key), value]));
  const init: Record<string, unknown> = {};
  for (const field of schema.fields) {
    const value = values.get(plainName(field.name));
    if (value === undefined || value === null) continue;
    init[field.localName] = valueFor(field, value);
  }
  return init;
}

function valueFor(field: DescField, value: unknown): unknown {
  switch (field.fieldKind) {
    case "list":
      return (Array.isArray(value) ? value : []).map((item) => single(field.listKind, field, item));
    case "map":
      return field.mapKind === "message" ? messagesOf(value) : value;
    case "scalar":
    case "enum":
    case "message":
      return single(field.fieldKind, field, value);
  }
}

/** Where an older Talos has another type of values than the newest, whose message this is, there are none. */
function messagesOf(value: unknown): unknown {
  return Object.fromEntries(Object.entries(value as object).filter(([, item]) => typeof item === "object"));
}

function single(kind: "scalar" | "enum" | "message", field: DescField, value: unknown): unknown {
  if (kind === "enum" && field.enum !== undefined) return enumNumber(field.enum, String(value));
  if (kind === "message" && field.message !== undefined) return messageFor(field.message, value);
  return scalarFor(field, value);
}

/** Bit sets that YAML shows by name (kernel's IFA_F_*). */
const flagNumbers: Readonly<Record<string, number>> = { permanent: 0x80 };

function scalarFor(field: DescField, value: unknown): unknown {
  const wide = [ScalarType.INT64, ScalarType.UINT64, ScalarType.SINT64, ScalarType.FIXED64, ScalarType.SFIXED64];
  if (field.scalar !== undefined && wide.includes(field.scalar)) return typeof value === "number" ? BigInt(value) : 0n;
  const narrow = [ScalarType.INT32, ScalarType.UINT32, ScalarType.SINT32, ScalarType.FIXED32, ScalarType.SFIXED32];
  if (field.scalar !== undefined && narrow.includes(field.scalar) && typeof value !== "number") return flagNumbers[String(value)] ?? 0;
  if (field.scalar === ScalarType.BYTES) return bytesFor(String(value));
  return value;
}

/** Hardware addresses are text in YAML and bytes in the message. */
function bytesFor(text: string): Uint8Array {
  return /^([0-9a-f]{2}:)+[0-9a-f]{2}$/.test(text)
    ? Uint8Array.from(text.split(":"), (part) => Number.parseInt(part, 16))
    : Buffer.from(text);
}

function messageFor(schema: DescMessage, value: unknown): unknown {
  if (schema.typeName === "common.NetIP") return create(schema, { ip: addressBytes(String(value)) ?? new Uint8Array() });
  if (schema.typeName === "common.NetIPPrefix") {
    const [address = "", length = "0"] = String(value).split("/");
    return create(schema, { ip: addressBytes(address) ?? new Uint8Array(), prefixLength: Number(length) });
  }
  if (schema.typeName === "google.protobuf.Struct") return value;
  return create(schema, initFor(schema, value as PlainSpec));
}

function enumNumber(schema: DescEnum, text: string): number {
  const wanted = plainName(text);
  const found =
    schema.values.find((value) => plainName(value.localName) === wanted) ??
    schema.values.find((value) => plainName(value.name) === wanted) ??
    schema.values.find((value) => plainName(value.name).endsWith(wanted));
  return found?.number ?? 0;
}

/** Names that came before: those of fields and enums, and the keys of specs. */
const MOST_NAMES = 10_000;
const plainNames = new Map<string, string>();

function plainName(name: string): string {
  const known = plainNames.get(name);
  if (known !== undefined) return known;
  const plain = name.toLowerCase().replaceAll(/[_\s-]/g, "");
  if (plainNames.size >= MOST_NAMES) plainNames.clear();
  plainNames.set(name, plain);
  return plain;
}
