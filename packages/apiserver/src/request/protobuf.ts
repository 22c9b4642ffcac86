import { isObject, setOwn } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { messageFields, messageOfKind } from "./gen/protobuf-messages.ts";
import { badRequest, unsupportedMediaType } from "./status.ts";

interface Field {
  readonly name: string;
  /** A scalar of `decodeScalar`, or the name of a message. */
  readonly type: string;
  readonly repeated: boolean;
  readonly isMap: boolean;
  /** Its fields belong to the message itself in JSON. */
  readonly inline: boolean;
  /** Printed even when it is zero: a pointer in Go, or without `omitempty`. */
  readonly kept: boolean;
}

type Fields = ReadonlyMap<number, Field>;

const magic = [0x6b, 0x38, 0x73, 0x00];
const typeMeta: Fields = new Map(
  ["apiVersion", "kind"].map((name, index) => [
    index + 1,
    { name, type: "text", repeated: false, isMap: false, inline: false, kept: false },
  ]),
);
const parsed = new Map<string, Fields>();

/** The fields of a message by number, read from the generated notation once. */
function fieldsOf(message: string): Fields | undefined {
  const text = messageFields[message];
  let fields = parsed.get(message);
  if (fields === undefined && text !== undefined) {
    fields = new Map(
      text.split(";").map((line) => {
        const [number = "", name = "", type = ""] = line.split(" ");
        const flags = /^[%*~!]*/.exec(type)?.[0] ?? "";
        return [
          Number(number),
          {
            name,
            type: type.slice(flags.length),
            repeated: flags.includes("*"),
            isMap: flags.includes("%"),
            inline: flags.includes("~"),
            kept: flags.includes("!"),
          },
        ];
      }),
    );
    parsed.set(message, fields);
  }
  return fields;
}

/**
 * Reads a body of type `application/vnd.kubernetes.protobuf`, which typed clients in Go send: four magic bytes, then `runtime.Unknown` with the
 * type and the object's bytes. The result is what the same client would have sent as JSON.
 *
 * @throws 415 for a kind or a field that is not in the generated tables: a field that we cannot read is never dropped; 400 for bytes that are no message
 */
export function decodeKubernetesProtobuf(body: Uint8Array): JsonObject {
  if (!magic.every((byte, index) => body[index] === byte)) {
    throw badRequest("the request body does not begin as a Kubernetes protobuf message");
  }
  const unknown = new Map(fieldsIn(body.subarray(4)).map(({ number, value }) => [number, value]));
  const type = decodeMessage(typeMeta, bytesOf(unknown.get(1)), 0);
  const apiVersion = String(type["apiVersion"]);
  // Every group has its own name for the options of a deletion.
  const isOptions = type["kind"] === "DeleteOptions";
  const message = messageOfKind[isOptions ? "v1/DeleteOptions" : `${apiVersion}/${String(type["kind"])}`];
  const fields = message === undefined ? undefined : fieldsOf(message);
  if (fields === undefined) {
    throw unsupportedMediaType(["application/json", "application/yaml"]);
  }
  return { ...type, ...decodeMessage(fields, bytesOf(unknown.get(2)), 0) };
}

interface RawField {
  readonly number: number;
  readonly value: number | Uint8Array;
}

function fieldsIn(bytes: Uint8Array): readonly RawField[] {
  const found: RawField[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) break;
      value |= BigInt(byte & 0x7f) << shift;
      // Negative numbers come as their 64-bit complement.
      if (byte < 0x80) return Number(BigInt.asIntN(64, value));
    }
    throw badRequest("the request body is not a valid protobuf message");
  };
  while (at < bytes.length) {
    const tag = varint();
    const wireType = tag & 7;
    const number = Math.floor(tag / 8);
    if (wireType === 0) {
      found.push({ number, value: varint() });
    } else {
      const length = wireType === 2 ? varint() : Number.NaN;
      // A length below zero would begin again with what was read.
      if (!(length >= 0 && at + length <= bytes.length)) throw badRequest("the request body is not a valid protobuf message");
      found.push({ number, value: bytes.subarray(at, at + length) });
      at += length;
    }
  }
  return found;
}

const maxDepth = 64;

function decodeMessage(fields: Fields, bytes: Uint8Array, depth: number): JsonObject {
  if (depth > maxDepth) throw badRequest(`the request body nests deeper than ${maxDepth} levels; flatten it`);
  const result: JsonObject = {};
  for (const { number, value } of fieldsIn(bytes)) {
    const field = fields.get(number);
    if (field === undefined) {
      // Empty messages are how Go writes what was never set.
      if (typeof value !== "number" && value.length === 0) continue;
      throw unsupportedMediaType(["application/json", "application/yaml"]);
    }
    const { name, type, repeated } = field;
    if (field.isMap) {
      const entry = new Map(fieldsIn(bytesOf(value)).map((part) => [part.number, part.value]));
      const map = (result[name] ??= {}) as JsonObject;
      setOwn(map, textOf(entry.get(1)), decodeValue(type, entry.get(2) ?? new Uint8Array(), depth));
      continue;
    }
    const decoded = decodeValue(type, value, depth);
    if (repeated) ((result[name] ??= []) as unknown[]).push(decoded);
    else if (field.inline && isObject(decoded)) Object.assign(result, decoded);
    else if (decoded !== undefined && (field.kept || !isZero(decoded))) result[name] = decoded;
  }
  return result;
}

function isZero(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === "" ||
    value === 0 ||
    value === false ||
    (isObject(value) && Object.keys(value).length === 0)
  );
}

function decodeValue(type: string, value: number | Uint8Array, depth: number): unknown {
  switch (type) {
    case "text":
      return textOf(value);
    case "integer":
      return numberOf(value);
    case "boolean":
      return numberOf(value) === 1;
    case "bytes":
      return Buffer.from(bytesOf(value)).toString("base64");
    case "texts":
      return fieldsIn(bytesOf(value)).map((item) => textOf(item.value));
    case "quantity":
      return textOf(fieldAt(value, 1));
    case "json":
      return jsonOf(fieldAt(value, 1));
    case "duration":
      return printDuration(numberOf(fieldAt(value, 1)));
    case "intOrString":
      return numberOf(fieldAt(value, 1)) === 1 ? textOf(fieldAt(value, 3)) : numberOf(fieldAt(value, 2));
    case "time":
      return printTime(value, 0);
    case "microTime":
      return printTime(value, 6);
    default:
      return decodeMessage(fieldsOf(type) ?? new Map<number, Field>(), bytesOf(value), depth + 1);
  }
}

function fieldAt(value: number | Uint8Array, number: number): number | Uint8Array | undefined {
  return fieldsIn(bytesOf(value)).find((field) => field.number === number)?.value;
}

/** RFC 3339; nothing for Go's zero time, which lies before the year 1. */
function printTime(value: number | Uint8Array, fraction: 0 | 6): string | undefined {
  const seconds = numberOf(fieldAt(value, 1));
  if (bytesOf(value).length === 0 || seconds < -62_135_596_800 + 1) return undefined;
  const text = new Date(seconds * 1000).toISOString().slice(0, 19);
  const micros = String(Math.trunc(numberOf(fieldAt(value, 2)) / 1000)).padStart(6, "0");
  return fraction === 0 ? `${text}Z` : `${text}.${micros}Z`;
}

/** As Go prints a duration that is a whole number of seconds; smaller parts as a decimal fraction. */
function printDuration(nanoseconds: number): string {
  const seconds = nanoseconds / 1e9;
  const hours = Math.trunc(seconds / 3600);
  const minutes = Math.trunc((seconds % 3600) / 60);
  const rest = `${Number((seconds % 60).toFixed(9))}s`;
  return `${hours === 0 ? "" : `${hours}h`}${hours === 0 && minutes === 0 ? "" : `${minutes}m`}${rest}`;
}

function jsonOf(value: number | Uint8Array | undefined): unknown {
  const text = textOf(value);
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The parser would quote what is around the error, and that may be a Secret.
    throw badRequest("the request body is not a valid protobuf message: a raw field holds no JSON");
  }
}

function numberOf(value: number | Uint8Array | undefined): number {
  if (value !== undefined && typeof value !== "number") throw badRequest("the request body is not a valid protobuf message");
  return value ?? 0;
}

function bytesOf(value: number | Uint8Array | undefined): Uint8Array {
  if (typeof value === "number") throw badRequest("the request body is not a valid protobuf message");
  return value ?? new Uint8Array();
}

function textOf(value: number | Uint8Array | undefined): string {
  return new TextDecoder().decode(bytesOf(value));
}
