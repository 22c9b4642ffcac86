import { checkRulesOfDefaults } from "../cel/check-defaults.ts";
import { checkRulesOfSchema } from "../cel/check-schema.ts";
import { getOwn, isObject, type JsonObject } from "../json.ts";
import { oldLabel, oldLabelRule } from "../request/names.ts";
import { fieldError, notSupported } from "./field-error.ts";
import { checkStructural } from "./structural.ts";
import type { CompiledCrd, CompiledVersion, FieldError, JsonSchema, KindNames, PrinterColumn, Subresources } from "./types.ts";
import { createCompiledVersion } from "./version.ts";
import { compareVersions } from "./version-order.ts";

/** What became of a CRD: something that can be served, or why not, with field paths. */
export type CompileOutcome =
  { readonly ok: true; readonly crd: CompiledCrd } | { readonly ok: false; readonly errors: readonly FieldError[] };

/**
 * Compiles a CustomResourceDefinition (apiextensions.k8s.io/v1, a plain object): names, structural-schema rules, CEL.
 *
 * The CRD is not changed and is kept by reference. Costs milliseconds; compile once per change of the CRD.
 *
 * @param isNew per version, whether its schema is new or changed; default: all are stored already
 */
export function compileCrd(crd: unknown, isNew: (version: string) => boolean = () => false): CompileOutcome {
  const errors: FieldError[] = [];
  const object = asObject(crd);
  const spec = asObject(getOwn(object, "spec"));
  const names = readNames(asObject(getOwn(spec, "names")), errors);
  const group = text(spec, "group");
  const name = text(asObject(getOwn(object, "metadata")), "name");
  if (group === "") errors.push(fieldError("FieldValueRequired", "spec.group", undefined, ""));
  else if (!isSubdomain(group)) errors.push(fieldError("FieldValueInvalid", "spec.group", group, dnsSubdomainText));
  else if (!group.includes("."))
    errors.push(fieldError("FieldValueInvalid", "spec.group", group, "should be a domain with at least one dot"));
  if (name !== `${names.plural}.${group}`) {
    errors.push(fieldError("FieldValueInvalid", "metadata.name", name, `must be spec.names.plural+"."+spec.group`));
  }
  const scope = text(spec, "scope");
  if (scope === "") errors.push(fieldError("FieldValueRequired", "spec.scope", undefined, ""));
  else if (scope !== "Cluster" && scope !== "Namespaced") {
    errors.push(fieldError("FieldValueNotSupported", "spec.scope", scope, `supported values: "Cluster", "Namespaced"`));
  }
  const conversion = text(asObject(getOwn(spec, "conversion")), "strategy");
  if (conversion === "None") {
    const webhook = asObject(getOwn(asObject(getOwn(spec, "conversion")), "webhook"));
    const why = "should not be set when strategy is not set to Webhook";
    if (isObject(getOwn(webhook, "clientConfig")))
      errors.push(fieldError("FieldValueForbidden", "spec.conversion.webhookClientConfig", undefined, why));
    if (texts(webhook, "conversionReviewVersions").length > 0)
      errors.push(fieldError("FieldValueForbidden", "spec.conversion.conversionReviewVersions", undefined, why));
  }
  if (conversion === "Webhook") {
    const why = "this server converts between versions with the strategy None only";
    errors.push(fieldError("FieldValueForbidden", "spec.conversion.strategy", undefined, why));
  } else if (conversion !== "" && conversion !== "None") {
    errors.push(notSupported("spec.conversion.strategy", conversion, ["None", "Webhook"]));
  }
  const declared = getOwn(spec, "versions");
  const versions = Array.isArray(declared) ? declared.map(asObject) : [];
  checkVersions(versions, errors);
  if (errors.length > 0) return { ok: false, errors };

  const compiled = new Map<string, CompiledVersion>();
  const shared = versions.every((version) => JSON.stringify(version["schema"]) === JSON.stringify(versions[0]?.["schema"]));
  const facts = { group, names, namespaced: scope === "Namespaced" };
  versions.forEach((version, index) => {
    // The genuine server hoists a schema that all versions share, and its errors name that place, once.
    const path = shared ? "spec.validation.openAPIV3Schema" : `spec.versions[${index}].schema.openAPIV3Schema`;
    const schema = getOwn(asObject(getOwn(version, "schema")), "openAPIV3Schema") as JsonSchema;
    const found = checkStructural(schema, path);
    if (found.length > 0) {
      if (!shared || index === 0) errors.push(...found);
      return;
    }
    const result = createCompiledVersion({ ...facts, ...readVersion(version, names.kind, group, versions) }, schema);
    const rules = checkRulesOfSchema(schema, path);
    // What is stored already goes on with the defaults that it has.
    const broken = rules.length === 0 && isNew(result.version) ? checkRulesOfDefaults(schema, path) : rules;
    if (!shared || index === 0) errors.push(...broken);
    if (broken.length === 0) compiled.set(result.version, result);
  });
  if (errors.length > 0) return { ok: false, errors };
  const storage = versions.find((version) => version["storage"] === true);
  return { ok: true, crd: { name, ...facts, versions: compiled, storageVersion: text(storage ?? {}, "name") } };
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function text(object: JsonObject, key: string): string {
  const value = getOwn(object, key);
  return typeof value === "string" ? value : "";
}

function texts(object: JsonObject, key: string): string[] {
  const value = getOwn(object, key);
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

const dnsSubdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

function isSubdomain(value: string): boolean {
  return value.length <= 253 && value.split(".").every((part) => /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/u.test(part));
}

function readNames(names: JsonObject, errors: FieldError[]): KindNames {
  const kind = text(names, "kind");
  const plural = text(names, "plural");
  const result: KindNames = {
    plural,
    kind,
    singular: text(names, "singular") === "" ? kind.toLowerCase() : text(names, "singular"),
    listKind: text(names, "listKind") === "" ? `${kind}List` : text(names, "listKind"),
    shortNames: texts(names, "shortNames"),
    categories: texts(names, "categories"),
  };
  const lowercase: [keyof KindNames & ("plural" | "singular" | "kind" | "listKind"), string][] = [
    ["plural", plural],
    ["singular", result.singular],
    ["kind", kind.toLowerCase()],
    ["listKind", result.listKind.toLowerCase()],
  ];
  for (const [field, value] of lowercase) {
    if (value === "" || (field === "listKind" && kind === ""))
      errors.push(fieldError("FieldValueRequired", `spec.names.${field}`, undefined, ""));
    else if (value.length > 63 || !oldLabel.test(value))
      errors.push(
        field === "kind" || field === "listKind"
          ? fieldError(
              "FieldValueInvalid",
              `spec.names.${field}`,
              result[field],
              `may have mixed case, but should otherwise match: ${oldLabelRule}`,
            )
          : fieldError("FieldValueInvalid", `spec.names.${field}`, value, oldLabelRule),
      );
  }
  result.shortNames.forEach((short, index) => {
    if (!oldLabel.test(short)) errors.push(fieldError("FieldValueInvalid", `spec.names.shortNames[${index}]`, short, oldLabelRule));
  });
  result.categories.forEach((category, index) => {
    if (!oldLabel.test(category)) errors.push(fieldError("FieldValueInvalid", `spec.names.categories[${index}]`, category, oldLabelRule));
  });
  if (kind !== "" && kind === result.listKind)
    errors.push(fieldError("FieldValueInvalid", "spec.names.listKind", kind, "kind and listKind may not be the same"));
  return result;
}

/** What is wrong with the warning of a deprecated version. */
function problemsOfWarning(version: JsonObject): readonly string[] {
  const warning = getOwn(version, "deprecationWarning");
  if (typeof warning !== "string") return [];
  if (getOwn(version, "deprecated") !== true) return ["can only be set for deprecated versions"];
  const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning);
  const at = unprintable === null ? 0 : Buffer.byteLength(warning.slice(0, unprintable.index));
  return [
    ...(Buffer.byteLength(warning) > 256 ? ["must be <= 256 characters long"] : []),
    ...(warning === "" ? ["must not be an empty string"] : []),
    ...(unprintable === null ? [] : [`must only contain printable UTF-8 characters; non-printable character found at index ${at}`]),
  ];
}

/** A version as Go prints it, without the parts that the genuine server hoists out of it before it looks. */
function printVersion(version: JsonObject): JsonObject {
  return {
    Name: text(version, "name"),
    Served: getOwn(version, "served") === true,
    Storage: getOwn(version, "storage") === true,
    Deprecated: getOwn(version, "deprecated") === true,
    DeprecationWarning: getOwn(version, "deprecationWarning") ?? null,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  };
}

function checkVersions(versions: readonly JsonObject[], errors: FieldError[]): void {
  const storing = versions.filter((version) => version["storage"] === true).length;
  const shown = versions.map(printVersion);
  if (storing !== 1) {
    errors.push(fieldError("FieldValueInvalid", "spec.versions", shown, "must have exactly one version marked as storage version"));
  }
  const stored = versions.filter((version) => version["storage"] === true).map((version) => text(version, "name"));
  if (stored.length === 0) {
    errors.push(fieldError("FieldValueInvalid", "status.storedVersions", null, "must have at least one stored version"));
  }
  for (const extra of stored.slice(1)) {
    const why = `must have the storage version ${extra}`;
    errors.push(fieldError("FieldValueInvalid", "status.storedVersions", stored.slice(0, 1), why));
  }
  const seen = new Set<string>();
  versions.forEach((version, index) => {
    const name = text(version, "name");
    if (!oldLabel.test(name)) {
      errors.push(fieldError("FieldValueInvalid", `spec.versions[${index}].name`, name, oldLabelRule));
      if (index === 0) errors.push(fieldError("FieldValueInvalid", "spec.version", name, oldLabelRule));
    }
    for (const why of problemsOfWarning(version))
      errors.push(
        fieldError("FieldValueInvalid", `spec.versions[${index}].deprecationWarning`, getOwn(version, "deprecationWarning"), why),
      );
    if (seen.has(name)) errors.push(fieldError("FieldValueInvalid", "spec.versions", shown, "must contain unique version names"));
    seen.add(name);
    if (!isObject(getOwn(asObject(getOwn(version, "schema")), "openAPIV3Schema"))) {
      errors.push(fieldError("FieldValueRequired", `spec.versions[${index}].schema.openAPIV3Schema`, undefined, ""));
    }
  });
}

/** The warning of a deprecated version: there may be a newer one to use. */
function deprecationOf(name: string, kind: string, group: string, versions: readonly JsonObject[]): string {
  const [best] = versions
    .filter((other) => other["served"] === true && other["deprecated"] !== true)
    .map((other) => text(other, "name"))
    .filter((other) => compareVersions(other, name) < 0)
    .sort(compareVersions);
  return `${group}/${name} ${kind} is deprecated${best === undefined ? "" : `; use ${group}/${best} ${kind}`}`;
}

function readVersion(version: JsonObject, kind: string, group: string, others: readonly JsonObject[]) {
  const name = text(version, "name");
  const subresources = asObject(getOwn(version, "subresources"));
  const scale = getOwn(subresources, "scale");
  const columns = getOwn(version, "additionalPrinterColumns");
  const fields = getOwn(version, "selectableFields");
  const deprecated = getOwn(version, "deprecated") === true;
  return {
    version: name,
    served: getOwn(version, "served") === true,
    storage: getOwn(version, "storage") === true,
    ...(deprecated ? { deprecationWarning: text(version, "deprecationWarning") || deprecationOf(name, kind, group, others) } : {}),
    subresources: {
      status: isObject(getOwn(subresources, "status")),
      ...(isObject(scale) ? { scale: scale as unknown as NonNullable<Subresources["scale"]> } : {}),
    },
    columns: Array.isArray(columns) && columns.length > 0 ? (columns as PrinterColumn[]) : defaultColumns,
    selectableFields: Array.isArray(fields) ? fields.map((field) => text(asObject(field), "jsonPath")) : [],
  };
}

const defaultColumns: readonly PrinterColumn[] = [
  {
    name: "Age",
    type: "date",
    description: "Time since the object was created.",
    jsonPath: ".metadata.creationTimestamp",
  },
];
