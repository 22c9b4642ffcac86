import { quoteGo } from "../go-print.ts";
import { equalJson, isObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt, stringAt, without } from "../request/json.ts";
import type { FieldError } from "../schema/index.ts";
import { required } from "./rule-errors.ts";

/** Of all values of an object together. */
const maxDataBytes = 1024 * 1024;

/** Plain text becomes data, and a Secret without a type is Opaque. */
export function prepareSecret(secret: JsonObject): JsonObject {
  const plain = objectAt(secret, "stringData");
  const data: JsonObject = { ...objectAt(secret, "data") };
  for (const [key, value] of Object.entries(plain)) {
    data[key] = typeof value === "string" ? Buffer.from(value, "utf8").toString("base64") : value;
  }
  const rest = without(secret, "stringData", "data");
  const hasData = secret["data"] !== undefined || Object.keys(plain).length > 0;
  return { ...rest, ...(hasData ? { data } : {}), type: stringAt(secret, "type") || "Opaque" };
}

const dataKey = /^[-._a-zA-Z0-9]+$/;

function refuseKeys(object: JsonObject, field: string): readonly FieldError[] {
  return Object.keys(objectAt(object, field)).flatMap((key) =>
    problemsOfKey(key).map((why) => ({
      reason: "FieldValueInvalid" as const,
      field: `${field}[${key}]`,
      message: `Invalid value: ${quoteGo(key)}: ${why}`,
    })),
  );
}

function problemsOfKey(key: string): readonly string[] {
  return [
    ...(key.length > 253 ? ["must be no more than 253 characters"] : []),
    ...(dataKey.test(key)
      ? []
      : [
          "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
        ]),
    ...(key === "." || key === ".." ? [`must not be '${key}'`] : key.startsWith("..") ? ["must not start with '..'"] : []),
  ];
}

/** Keys, size, what its type asks for, and what may not change. */
export function validateSecret(secret: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const errors: FieldError[] = [...refuseKeys(secret, "data")];
  let bytes = 0;
  for (const value of Object.values(objectAt(secret, "data"))) {
    bytes += typeof value === "string" ? Math.floor((value.length * 3) / 4) : 0;
  }
  if (bytes > maxDataBytes) {
    errors.push({ reason: "FieldValueTooLong", field: "data", message: `Too long: may not be more than ${maxDataBytes} bytes` });
  }
  errors.push(...refuseIncompleteSecret(secret));
  if (old !== undefined) {
    if (stringAt(old, "type") !== stringAt(secret, "type")) {
      errors.push({
        reason: "FieldValueInvalid",
        field: "type",
        message: `Invalid value: ${JSON.stringify(stringAt(secret, "type") ?? "")}: field is immutable`,
      });
    }
    errors.push(...refuseImmutableChange(secret, old, ["data"]));
  }
  return errors;
}

const accountAnnotation = "kubernetes.io/service-account.name";

/** Keys that a Secret of a type must have. */
const requiredKeys: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
};

function refuseIncompleteSecret(secret: JsonObject): readonly FieldError[] {
  const type = stringAt(secret, "type") ?? "";
  const data = objectAt(secret, "data");
  if (type === "kubernetes.io/service-account-token" && !stringAt(metadataOf(secret)["annotations"], accountAnnotation)) {
    return [required(`metadata.annotations[${accountAnnotation}]`)];
  }
  const missing = (requiredKeys[type] ?? []).filter((key) => data[key] === undefined);
  // One of the two is enough.
  const credentials = ["username", "password"];
  if (type === "kubernetes.io/basic-auth" && credentials.every((key) => data[key] === undefined)) missing.push(...credentials);
  return missing.map((key) => required(`data[${key}]`));
}

/** The same rules for what is no secret. */
export function validateConfigMap(configMap: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const errors: FieldError[] = [...refuseKeys(configMap, "data"), ...refuseKeys(configMap, "binaryData")];
  for (const key of Object.keys(objectAt(configMap, "data"))) {
    if (Object.hasOwn(objectAt(configMap, "binaryData"), key)) {
      const message = `Invalid value: ${quoteGo(key)}: duplicate of key present in binaryData`;
      errors.push({ reason: "FieldValueInvalid", field: `data[${key}]`, message });
    }
  }
  let bytes = 0;
  for (const value of [...Object.values(objectAt(configMap, "data")), ...Object.values(objectAt(configMap, "binaryData"))]) {
    bytes += typeof value === "string" ? value.length : 0;
  }
  if (bytes > maxDataBytes) {
    errors.push({ reason: "FieldValueTooLong", field: "[]", message: `Too long: may not be more than ${maxDataBytes} bytes` });
  }
  return old === undefined ? errors : [...errors, ...refuseImmutableChange(configMap, old, ["data", "binaryData"])];
}

function refuseImmutableChange(object: JsonObject, old: JsonObject, fields: readonly string[]): readonly FieldError[] {
  if (old["immutable"] !== true) {
    return [];
  }
  const forbidden = (field: string): FieldError => ({
    reason: "FieldValueForbidden",
    field,
    message: "Forbidden: field is immutable when `immutable` is set",
  });
  const errors = object["immutable"] === true ? [] : [forbidden("immutable")];
  for (const field of fields) {
    const before = isObject(old[field]) ? old[field] : {};
    const after = isObject(object[field]) ? object[field] : {};
    if (!equalJson(before, after)) {
      errors.push(forbidden(field));
    }
  }
  return errors;
}
