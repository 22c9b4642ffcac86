import { setOwn } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { badRequest, unsupportedMediaType } from "./status.ts";

/** How one field goes into JSON. Zero values of texts and numbers are left out, as `omitempty` does. */
type FieldType =
  | { readonly kind: "text" | "integer" | "boolean" | "time" }
  | { readonly kind: "textMap" }
  | { readonly kind: "bytesMap" }
  | { readonly kind: "message"; readonly fields: Fields };

interface Field {
  readonly name: string;
  readonly type: FieldType;
  readonly repeated: boolean;
}

/** Fields of a message by number. */
type Fields = Readonly<Record<number, Field>>;

const one = (name: string, type: FieldType): Field => ({ name, type, repeated: false });
const many = (name: string, type: FieldType): Field => ({ name, type, repeated: true });
const text: FieldType = { kind: "text" };
const integer: FieldType = { kind: "integer" };
const boolean: FieldType = { kind: "boolean" };
const time: FieldType = { kind: "time" };
const textMap: FieldType = { kind: "textMap" };
const bytesMap: FieldType = { kind: "bytesMap" };
const message = (fields: Fields): FieldType => ({ kind: "message", fields });
const texts = (...names: readonly string[]): Fields => Object.fromEntries(names.map((name, index) => [index + 1, one(name, text)]));
const textLists = (...names: readonly string[]): Fields => Object.fromEntries(names.map((name, index) => [index + 1, many(name, text)]));

const ownerReference: Fields = {
  1: one("kind", text),
  3: one("name", text),
  4: one("uid", text),
  5: one("apiVersion", text),
  6: one("controller", boolean),
  7: one("blockOwnerDeletion", boolean),
};
// managedFields (17) are the server's; a typed client sends none when it creates.
const objectMeta = message({
  1: one("name", text),
  2: one("generateName", text),
  3: one("namespace", text),
  5: one("uid", text),
  6: one("resourceVersion", text),
  7: one("generation", integer),
  8: one("creationTimestamp", time),
  9: one("deletionTimestamp", time),
  10: one("deletionGracePeriodSeconds", integer),
  11: one("labels", textMap),
  12: one("annotations", textMap),
  13: many("ownerReferences", message(ownerReference)),
  14: many("finalizers", text),
});
const objectReference = message(texts("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"));
const policyRules = many("rules", message(textLists("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")));
const subjects = many("subjects", message(texts("kind", "apiGroup", "name", "namespace")));
const roleRef = one("roleRef", message(texts("apiGroup", "kind", "name")));
const metadata = one("metadata", objectMeta);
const resourceAttributes = message(texts("namespace", "verb", "group", "version", "resource", "subresource", "name"));

/**
 * The messages that kubectl's imperative commands send as protobuf and in no other form (`create namespace`, `create secret`, `auth can-i`, ...).
 *
 * @see k8s.io/api v0.36.3, the `generated.proto` of each group
 */
const messages: Readonly<Record<string, Fields>> = {
  "v1/Namespace": { 1: metadata, 2: one("spec", message(textLists("finalizers"))), 3: one("status", message(texts("phase"))) },
  "v1/Secret": { 1: metadata, 2: one("data", bytesMap), 3: one("type", text), 4: one("stringData", textMap), 5: one("immutable", boolean) },
  "v1/ConfigMap": { 1: metadata, 2: one("data", textMap), 3: one("binaryData", bytesMap), 4: one("immutable", boolean) },
  "v1/ServiceAccount": {
    1: metadata,
    2: many("secrets", objectReference),
    3: many("imagePullSecrets", message(texts("name"))),
    4: one("automountServiceAccountToken", boolean),
  },
  "v1/DeleteOptions": {
    1: one("gracePeriodSeconds", integer),
    2: one("preconditions", message(texts("uid", "resourceVersion"))),
    3: one("orphanDependents", boolean),
    4: one("propagationPolicy", text),
    5: many("dryRun", text),
  },
  "rbac.authorization.k8s.io/v1/Role": { 1: metadata, 2: policyRules },
  "rbac.authorization.k8s.io/v1/ClusterRole": { 1: metadata, 2: policyRules },
  "rbac.authorization.k8s.io/v1/RoleBinding": { 1: metadata, 2: subjects, 3: roleRef },
  "rbac.authorization.k8s.io/v1/ClusterRoleBinding": { 1: metadata, 2: subjects, 3: roleRef },
  // Clients in Go always send the status, empty: it is no pointer there.
  "authentication.k8s.io/v1/SelfSubjectReview": {
    1: metadata,
    2: one("status", message({ 1: one("userInfo", message({ 1: one("username", text), 2: one("uid", text) })) })),
  },
  "authorization.k8s.io/v1/SelfSubjectAccessReview": {
    1: metadata,
    2: one(
      "spec",
      message({ 1: one("resourceAttributes", resourceAttributes), 2: one("nonResourceAttributes", message(texts("path", "verb"))) }),
    ),
    3: one(
      "status",
      message({ 1: one("allowed", boolean), 2: one("reason", text), 3: one("evaluationError", text), 4: one("denied", boolean) }),
    ),
  },
  "authorization.k8s.io/v1/SelfSubjectRulesReview": {
    1: metadata,
    2: one("spec", message(texts("namespace"))),
    3: one("status", message({ 3: one("incomplete", boolean), 4: one("evaluationError", text) })),
  },
};

const magic = [0x6b, 0x38, 0x73, 0x00];

/**
 * Reads a body of type `application/vnd.kubernetes.protobuf`: four magic bytes, then `runtime.Unknown` with the type and the object's bytes.
 *
 * @throws 415 for a kind or a field that is not in the table above: a field that we cannot read is never dropped; 400 for bytes that are no message
 */
export function decodeKubernetesProtobuf(body: Uint8Array): JsonObject {
  if (!magic.every((byte, index) => body[index] === byte)) {
    throw badRequest("the request body does not begin as a Kubernetes protobuf message");
  }
  const unknown = new Map(fieldsIn(body.subarray(4)).map(({ number, value }) => [number, value]));
  const type = decodeMessage(texts("apiVersion", "kind"), bytesOf(unknown.get(1)));
  const fields = messages[`${String(type["apiVersion"])}/${String(type["kind"])}`];
  if (fields === undefined) {
    throw unsupportedMediaType(["application/json", "application/yaml"]);
  }
  return { ...type, ...decodeMessage(fields, bytesOf(unknown.get(2))) };
}

interface RawField {
  readonly number: number;
  readonly value: number | Uint8Array;
}

function fieldsIn(bytes: Uint8Array): readonly RawField[] {
  const found: RawField[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 64; shift += 7) {
      const byte = bytes[at++];
      if (byte === undefined) break;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw badRequest("the request body is not a valid protobuf message");
  };
  while (at < bytes.length) {
    const tag = varint();
    const wireType = tag % 8;
    const number = Math.floor(tag / 8);
    if (wireType === 0) {
      found.push({ number, value: varint() });
    } else {
      const length = wireType === 2 ? varint() : Number.NaN;
      if (!(at + length <= bytes.length)) throw badRequest("the request body is not a valid protobuf message");
      found.push({ number, value: bytes.subarray(at, at + length) });
      at += length;
    }
  }
  return found;
}

function decodeMessage(fields: Fields, bytes: Uint8Array): JsonObject {
  const result: JsonObject = {};
  for (const { number, value } of fieldsIn(bytes)) {
    const field = fields[number];
    if (field === undefined) {
      // Empty messages are how Go writes what was never set, such as the status of a new object.
      if (typeof value !== "number" && value.length === 0) continue;
      throw unsupportedMediaType(["application/json", "application/yaml"]);
    }
    const { name, type, repeated } = field;
    if (type.kind === "textMap" || type.kind === "bytesMap") {
      const entry = new Map(fieldsIn(bytesOf(value)).map((part) => [part.number, part.value]));
      const map = (result[name] ??= {}) as JsonObject;
      setOwn(
        map,
        textOf(entry.get(1)),
        type.kind === "textMap" ? textOf(entry.get(2)) : Buffer.from(bytesOf(entry.get(2))).toString("base64"),
      );
      continue;
    }
    const decoded = decodeValue(type, value);
    if (repeated) {
      ((result[name] ??= []) as unknown[]).push(decoded ?? (type.kind === "message" ? {} : ""));
    } else if (decoded !== undefined) {
      result[name] = decoded;
    }
  }
  return result;
}

function decodeValue(type: Exclude<FieldType, { kind: "textMap" } | { kind: "bytesMap" }>, value: number | Uint8Array): unknown {
  switch (type.kind) {
    case "text":
      return textOf(value) || undefined;
    case "integer":
      return value || undefined;
    case "boolean":
      return value === 1;
    case "time": {
      const seconds = fieldsIn(bytesOf(value)).find(({ number }) => number === 1)?.value;
      return typeof seconds === "number" && seconds > 0 ? `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z` : undefined;
    }
    case "message": {
      const object = decodeMessage(type.fields, bytesOf(value));
      return Object.keys(object).length === 0 ? undefined : object;
    }
  }
}

function bytesOf(value: number | Uint8Array | undefined): Uint8Array {
  if (typeof value === "number") throw badRequest("the request body is not a valid protobuf message");
  return value ?? new Uint8Array();
}

function textOf(value: number | Uint8Array | undefined): string {
  return new TextDecoder().decode(bytesOf(value));
}
