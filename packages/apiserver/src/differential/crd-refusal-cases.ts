import type { JsonObject } from "../json.ts";
import { crdOf, crdResource } from "./crd-cases.ts";
import type { DifferentialCase } from "./run-case.ts";

const text = { type: "string" };
const root = (schema: JsonObject, version: JsonObject = {}): JsonObject =>
  crdOf({}, {}, { schema: { openAPIV3Schema: { type: "object", ...schema } }, ...version });
const field = (a: JsonObject): JsonObject => crdOf({ a });
const listed = (more: JsonObject, item: JsonObject): JsonObject => field({ type: "array", items: item, ...more });
const keyed = (item: JsonObject, ...keys: readonly string[]): JsonObject =>
  listed({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys }, { type: "object", ...item });
const ruled = (rule: string, more: JsonObject = {}): JsonObject => ({ "x-kubernetes-validations": [{ rule, ...more }] });
const column = (more: JsonObject): JsonObject =>
  crdOf({}, {}, { additionalPrinterColumns: [{ name: "A", type: "string", jsonPath: ".a", ...more }] });
const intOrString = { "x-kubernetes-int-or-string": true };
const embedded = { "x-kubernetes-embedded-resource": true };

const tried: readonly (readonly [name: string, crd: JsonObject])[] = [
  ["an apiVersion that is no text", root({ properties: { apiVersion: { type: "integer" } } })],
  ["a kind that is no text", root({ properties: { kind: { type: "object" } } })],
  ["metadata that is no object", root({ properties: { metadata: text } })],
  ["an enum for its kind", root({ properties: { kind: { type: "string", enum: ["Try"] } } })],
  ["additionalProperties that are false", field({ type: "object", additionalProperties: false })],
  ["additionalProperties at the root", root({ additionalProperties: text })],
  ["pattern properties", field({ type: "object", patternProperties: { x: text } })],
  ["definitions", field({ type: "object", definitions: { x: text } })],
  ["dependencies", field({ type: "object", dependencies: { x: ["y"] } })],
  ["an id", field({ type: "string", id: "x", title: "t", example: "e", externalDocs: { url: "x" } })],
  ["the type null", field({ type: "null" })],
  ["a default at the root", root({ default: {} })],
  ["a default of the metadata", root({ properties: { metadata: { type: "object", default: {} } } })],
  ["a default that its own rule refuses", field({ type: "string", default: "x", ...ruled("self != 'x'") })],
  [
    "a default that a rule above refuses",
    field({ type: "object", ...ruled("self.b > 1"), default: {}, properties: { b: { type: "integer", default: 1 } } }),
  ],
  ["the sign of a quantity as a method", field({ type: "string", maxLength: 9, ...ruled("quantity(self).sign() > 0") })],
  ["a selectable field without a dot", crdOf({ a: text }, {}, { selectableFields: [{ jsonPath: "spec.a" }] })],
  ["a null for a default", field({ type: "string", default: null })],
  ["types in oneOf", field({ oneOf: [text, { type: "integer" }] })],
  [
    "a bare description in allOf",
    field({ type: "string", allOf: [{ description: "x" }, { default: "y" }, { nullable: true }, { title: "s" }] }),
  ],
  ["additionalProperties in anyOf", field({ type: "object", anyOf: [{ additionalProperties: text }] })],
  ["rules in anyOf", field({ type: "object", anyOf: [ruled("true")] })],
  ["a list type in allOf", field({ type: "array", items: text, allOf: [{ "x-kubernetes-list-type": "set" }] })],
  ["a field that only anyOf knows", field({ type: "object", properties: { x: text }, anyOf: [{ properties: { y: { minLength: 1 } } }] })],
  ["a field that only anyOf of the root knows", root({ anyOf: [{ properties: { spec: { properties: { y: { minLength: 1 } } } } }] })],
  [
    "items that only not knows",
    field({ type: "object", properties: { x: { type: "object" } }, not: { properties: { x: { items: { enum: ["a"] } } } } }),
  ],
  ["metadata in allOf", root({ allOf: [{ properties: { metadata: { minProperties: 1 } } }] })],
  ["int-or-string as it is written", field({ ...intOrString, anyOf: [{ type: "integer" }, text] })],
  ["int-or-string the other way round", field({ ...intOrString, anyOf: [text, { type: "integer" }] })],
  ["int-or-string below allOf", field({ ...intOrString, allOf: [{ anyOf: [{ type: "integer" }, text] }, { pattern: "^x" }] })],
  ["int-or-string that keeps all", field({ ...intOrString, "x-kubernetes-preserve-unknown-fields": true })],
  ["int-or-string that is embedded", field({ ...intOrString, ...embedded })],
  ["an embedded text", field({ type: "string", ...embedded })],
  ["an embedded map", field({ type: "object", ...embedded, additionalProperties: text })],
  ["embedded fields of wrong types", field({ type: "object", ...embedded, properties: { kind: { type: "integer" }, metadata: text } })],
  ["a nullable root", root({ nullable: true })],
  ["too many repetitions", field({ type: "string", pattern: "a{1001}" })],
  ["repetitions the wrong way round", field({ type: "string", pattern: "a{5,2}" })],
  ["a list type without type", field({ "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-list-type": "set" })],
  ["keys of a set", listed({ "x-kubernetes-list-type": "set", "x-kubernetes-list-map-keys": ["a"] }, text)],
  ["a key twice", keyed({ required: ["k"], properties: { k: text } }, "k", "k")],
  ["a key that is a list", keyed({ required: ["k"], properties: { k: { type: "array", items: text } } }, "k")],
  ["a key that is an integer or a text", keyed({ required: ["k"], properties: { k: intOrString } }, "k")],
  ["a nullable key", keyed({ required: ["k"], properties: { k: { ...text, nullable: true } } }, "k")],
  ["nullable items of a set", listed({ "x-kubernetes-list-type": "set" }, { ...text, nullable: true })],
  ["a set of sets", listed({ "x-kubernetes-list-type": "set" }, { type: "array", items: text, "x-kubernetes-list-type": "set" })],
  ["a map type without type", field({ "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-map-type": "atomic" })],
  [
    "a rule with a broken pattern",
    crdOf({ a: text }, {}, { schema: { openAPIV3Schema: { type: "object", properties: { a: text }, ...ruled("self.a.matches('(')") } } }),
  ],
  ["optionalOldSelf with a broken rule", field({ type: "string", ...ruled("oldSelf == self", { optionalOldSelf: true }) })],
  ["a rule about what has no type", field({ "x-kubernetes-preserve-unknown-fields": true, ...ruled("self.x == 1") })],
  ["a rule about an unknown field", field({ type: "object", "x-kubernetes-preserve-unknown-fields": true, ...ruled("self.x == 1") })],
  ["a column of an unknown format", column({ format: "nope" })],
  ["a column without path", column({ jsonPath: undefined })],
  ["a warning of what is not deprecated", crdOf({}, {}, { deprecationWarning: "x" })],
  ["a warning with a line break", crdOf({}, {}, { deprecated: true, deprecationWarning: "a\nb" })],
  ["an empty warning", crdOf({}, {}, { deprecated: true, deprecationWarning: "" })],
  ["reviews without a webhook", crdOf({}, { conversion: { strategy: "None", webhook: { conversionReviewVersions: ["v1"] } } })],
  ["kinds that are no labels", crdOf({}, { names: { plural: "tries", singular: "Try", kind: "try_it", listKind: "try_list" } })],
  ["a group of Kubernetes", { ...crdOf({}, { group: "tries.k8s.io" }), metadata: { name: "tries.tries.k8s.io" } }],
  [
    "a group of Kubernetes, approved by nobody",
    {
      ...crdOf({}, { group: "tries.k8s.io" }),
      metadata: { name: "tries.tries.k8s.io", annotations: { "api-approved.kubernetes.io": "me" } },
    },
  ],
];

/** Taken by both, with conditions that differ for a dry run. */
const accepted = new Set([
  "an enum for its kind",
  "a field that only anyOf knows",
  "items that only not knows",
  "additionalProperties that are false",
  "a null for a default",
  "int-or-string as it is written",
  "int-or-string below allOf",
  "a key that is an integer or a text",
]);

/** More CRDs, most of which are refused; tried as dry runs. What a server that takes them answers is another matter. */
export const crdRefusalCases: readonly DifferentialCase[] = tried.map(([name, crd]) => ({
  name,
  resource: crdResource,
  steps: [{ do: "create", query: { dryRun: "All" }, body: crd, ...(accepted.has(name) ? { statusOnly: true as const } : {}) }],
}));
