import { fieldsOf } from "../format/protobuf.ts";

/** What a value under `/registry` is: an object, ciphertext, or neither. */
export type StoredObject =
  | { readonly form: "object"; readonly apiVersion: string; readonly kind: string; readonly metadata: () => StoredNames | undefined }
  | { readonly form: "encrypted" }
  | { readonly form: "unreadable" };

export interface StoredNames {
  readonly name: string;
  readonly namespace: string;
}

/** `k8s` and a zero byte: the envelope of Kubernetes' protobuf encoding; what follows is a runtime.Unknown. */
const protobufPrefix = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
const encryptedPrefix = Buffer.from("k8s:enc:");
const openingBrace = 0x7b;

const apiVersionForm = /^[a-z0-9.-]{1,253}(?:\/[a-z0-9]{1,63})?$/;
const kindForm = /^[A-Za-z][A-Za-z0-9]{0,62}$/;

const unreadable: StoredObject = { form: "unreadable" };
const encrypted: StoredObject = { form: "encrypted" };

/** Looks at the wrapper of a value. Nothing of its contents is taken but apiVersion, kind, and the names when they are asked for. */
export function readStoredObject(value: Uint8Array): StoredObject {
  if (startsWith(value, protobufPrefix)) return fromProtobuf(value.subarray(protobufPrefix.length));
  if (startsWith(value, encryptedPrefix)) return encrypted;
  return value[0] === openingBrace ? fromJson(value) : unreadable;
}

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  return start.every((byte, index) => bytes[index] === byte);
}

/** runtime.Unknown: 1 TypeMeta (1 apiVersion, 2 kind), 2 the object, whose field 1 is ObjectMeta (1 name, 3 namespace) for every kind. */
function fromProtobuf(message: Uint8Array): StoredObject {
  let typeMeta: Uint8Array | undefined;
  let raw: Uint8Array | undefined;
  for (const field of fieldsOf(message)) {
    if (field === undefined) return unreadable;
    if (field.number === 1) typeMeta = field.bytes;
    if (field.number === 2) raw = field.bytes;
  }
  const types = typeMeta === undefined ? undefined : textFields(typeMeta, 1, 2);
  if (types === undefined) return unreadable;
  return objectOf(types[0], types[1], () => {
    if (raw === undefined) return undefined;
    for (const field of fieldsOf(raw)) {
      if (field === undefined) return undefined;
      if (field.number !== 1 || field.bytes === undefined) continue;
      const names = textFields(field.bytes, 1, 3);
      return names === undefined ? undefined : { name: names[0], namespace: names[1] };
    }
    return undefined;
  });
}

/** Two text fields of a message; empty where it has none, `undefined` where it is broken. */
function textFields(message: Uint8Array, first: number, second: number): readonly [string, string] | undefined {
  let one = "";
  let two = "";
  for (const field of fieldsOf(message)) {
    if (field === undefined) return undefined;
    if (field.bytes === undefined || field.bytes.length > maxText) continue;
    if (field.number === first) one = Buffer.from(field.bytes).toString("utf8");
    if (field.number === second) two = Buffer.from(field.bytes).toString("utf8");
  }
  return [one, two];
}

const maxText = 512;

/** Custom resources. */
function fromJson(value: Uint8Array): StoredObject {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.length).toString("utf8"));
  } catch {
    return unreadable;
  }
  const { apiVersion, kind, metadata } = parsed as Readonly<Record<string, unknown>>;
  if (typeof apiVersion !== "string" || typeof kind !== "string") return unreadable;
  return objectOf(apiVersion, kind, () => {
    if (typeof metadata !== "object" || metadata === null) return undefined;
    const { name = "", namespace = "" } = metadata as Readonly<Record<string, unknown>>;
    return typeof name === "string" && typeof namespace === "string" ? { name, namespace } : undefined;
  });
}

function objectOf(apiVersion: string, kind: string, metadata: () => StoredNames | undefined): StoredObject {
  return apiVersionForm.test(apiVersion) && kindForm.test(kind) ? { form: "object", apiVersion, kind, metadata } : unreadable;
}
