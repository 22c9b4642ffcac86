import type { JsonObject } from "../json.ts";
import type { DifferentialCase, Resource } from "./run-case.ts";

/** CustomResourceDefinitions. */
export const crdResource: Resource = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
};
const text = { type: "string" };

/** A CRD of these properties, with changes of its spec and of its only version. */
export function crdOf(properties: JsonObject, changes: JsonObject = {}, version: JsonObject = {}): JsonObject {
  return {
    metadata: { name: "tries.differential.example.com" },
    spec: {
      group: "differential.example.com",
      scope: "Namespaced",
      names: { plural: "tries", singular: "try", kind: "Try", listKind: "TryList" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object", properties } }, ...version }],
      ...changes,
    },
  };
}
const spec = (properties: JsonObject, more: JsonObject = {}): JsonObject => crdOf({ spec: { type: "object", properties, ...more } });
const rule = (text: string, more: JsonObject = {}): JsonObject => ({ "x-kubernetes-validations": [{ rule: text, ...more }] });

const withA: JsonObject = { spec: { type: "object", properties: { a: text } } };
const scaled = (scale: JsonObject): JsonObject => crdOf(withA, {}, { subresources: { scale } });
const columned = (column: JsonObject): JsonObject => crdOf(withA, {}, { additionalPrinterColumns: [column] });
const selectable = (...paths: readonly string[]): JsonObject =>
  crdOf(withA, {}, { selectableFields: paths.map((jsonPath) => ({ jsonPath })) });

const bad: readonly [name: string, crd: JsonObject][] = [
  ["a property without type", spec({ a: {} })],
  ["an unknown type", spec({ a: { type: "text" } })],
  ["items without type", spec({ a: { type: "array", items: {} } })],
  ["an array without items", spec({ a: { type: "array" } })],
  ["a root that is no object", crdOf({}, {}, { schema: { openAPIV3Schema: { type: "array", items: text } } })],
  ["no schema", crdOf({}, {}, { schema: undefined })],
  ["a bad pattern", spec({ a: { type: "string", pattern: "(" } })],
  ["a pattern with look-ahead", spec({ a: { type: "string", pattern: "(?=a)" } })],
  ["properties and additionalProperties", spec({ a: { type: "object", properties: { b: text }, additionalProperties: text } })],
  ["preserve-unknown-fields false", spec({ a: { type: "object", "x-kubernetes-preserve-unknown-fields": false } })],
  ["int-or-string with a type", spec({ a: { type: "string", "x-kubernetes-int-or-string": true } })],
  [
    "a map list without keys",
    spec({ a: { type: "array", items: { type: "object", properties: { n: text } }, "x-kubernetes-list-type": "map" } }),
  ],
  [
    "a map list with an unknown key",
    spec({
      a: {
        type: "array",
        items: { type: "object", required: ["n"], properties: { n: text } },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["m"],
      },
    }),
  ],
  [
    "a map list with an optional key",
    spec({
      a: {
        type: "array",
        items: { type: "object", properties: { n: text } },
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["n"],
      },
    }),
  ],
  [
    "a map list of texts",
    spec({ a: { type: "array", items: text, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["n"] } }),
  ],
  [
    "a set of granular objects",
    spec({ a: { type: "array", items: { type: "object", properties: { n: text } }, "x-kubernetes-list-type": "set" } }),
  ],
  ["a list type on an object", spec({ a: { type: "object", "x-kubernetes-list-type": "set" } })],
  ["keys without list type map", spec({ a: { type: "array", items: text, "x-kubernetes-list-map-keys": ["n"] } })],
  ["an unknown list type", spec({ a: { type: "array", items: text, "x-kubernetes-list-type": "bag" } })],
  ["an unknown map type", spec({ a: { type: "object", additionalProperties: text, "x-kubernetes-map-type": "bag" } })],
  ["unique items", spec({ a: { type: "array", items: text, uniqueItems: true } })],
  ["a default of the wrong type", spec({ a: { type: "string", default: 1 } })],
  ["a default out of range", spec({ a: { type: "integer", minimum: 3, default: 1 } })],
  ["a default with unknown fields", spec({ a: { type: "object", properties: { b: text }, default: { c: 1 } } })],
  ["a type inside anyOf", spec({ a: { type: "string", anyOf: [{ type: "string" }] } })],
  ["a description inside allOf", spec({ a: { type: "string", allOf: [{ description: "x" }] } })],
  ["a default inside not", spec({ a: { type: "string", not: { default: "x" } } })],
  ["metadata with more than names", crdOf({ metadata: { type: "object", properties: { labels: { type: "object" } } } })],
  ["a rule that does not parse", spec({ a: { type: "string", ...rule("self ==") } })],
  ["a rule with an unknown field", spec({ a: { type: "string" } }, rule("self.b == 'x'"))],
  ["a rule with wrong types", spec({ a: { type: "string" } }, rule("self.a == 1"))],
  ["a rule that is no bool", spec({ a: { type: "string" } }, rule("self.a"))],
  ["an unknown function", spec({ a: { type: "string", ...rule("self.nope()") } })],
  ["an empty rule", spec({ a: { type: "string", ...rule("") } })],
  ["an empty message", spec({ a: { type: "string", ...rule("true", { message: "  " }) } })],
  ["a message of two lines", spec({ a: { type: "string", ...rule("true", { message: "a\nb" }) } })],
  ["a rule of two lines without message", spec({ a: { type: "string", ...rule("true &&\ntrue") } })],
  ["a blank message expression", spec({ a: { type: "string", ...rule("true", { messageExpression: " " }) } })],
  ["optionalOldSelf without oldSelf", spec({ a: { type: "string", ...rule("true", { optionalOldSelf: true }) } })],
  ["a bind", spec({ a: { type: "string", ...rule("cel.bind(x, self, x == 'a')") } })],
  ["a field path that is none", spec({ a: text }, rule("true", { fieldPath: ".b" }))],
  ["a field path without dot", spec({ a: text }, rule("true", { fieldPath: "a" }))],
  ["a blank field path", spec({ a: text }, rule("true", { fieldPath: " " }))],
  ["a field path into a list", spec({ a: { type: "array", items: text } }, rule("true", { fieldPath: ".a[0]" }))],
  ["a message expression that is no text", spec({ a: { type: "string", ...rule("true", { messageExpression: "1" }) } })],
  ["a bad reason", spec({ a: { type: "string", ...rule("true", { reason: "Nope" }) } })],
  [
    "oldSelf below an atomic list",
    spec({ a: { type: "array", maxItems: 3, items: { type: "string", maxLength: 5, ...rule("self == oldSelf") } } }),
  ],
  ["a wrong name", { ...spec({}), metadata: { name: "others.differential.example.com" } }],
  [
    "a group without dot",
    { ...spec({}), metadata: { name: "tries.example" }, spec: { ...(spec({})["spec"] as object), group: "example" } },
  ],
  ["a wrong scope", crdOf({}, { scope: "World" })],
  ["no storage version", crdOf({}, {}, { storage: false })],
  [
    "a plural with capitals",
    {
      ...crdOf({}, { names: { plural: "Tries", singular: "try", kind: "Try", listKind: "TryList" } }),
      metadata: { name: "Tries.differential.example.com" },
    },
  ],
  ["a reference", spec({ a: { $ref: "#/definitions/x" } })],
  ["a list of item schemas", spec({ a: { type: "array", items: [text] } })],
  ["a format that nobody checks", spec({ a: { type: "string", format: "weird" }, b: { type: "string", format: "k8s-short-name" } })],
  [
    "a category with capitals",
    crdOf({}, { names: { plural: "tries", singular: "try", kind: "Try", listKind: "TryList", categories: ["All"] } }),
  ],
  ["preserveUnknownFields", crdOf({}, { preserveUnknownFields: true })],
  ["an unknown conversion", crdOf({}, { conversion: { strategy: "Magic" } })],
  ["a scale path without dot", scaled({ specReplicasPath: ".spec.r", statusReplicasPath: "status.r" })],
  ["scale paths the wrong way round", scaled({ specReplicasPath: ".status.r", statusReplicasPath: ".spec.r", labelSelectorPath: ".x.y" })],
  ["a column of an unknown type", columned({ name: "A", type: "text", jsonPath: ".spec.a" })],
  ["a column whose path has no dot", columned({ name: "A", type: "string", jsonPath: "spec.a" })],
  ["a selectable field that is none", selectable(".spec.b")],
  ["a selectable object", selectable(".spec")],
  ["a selectable field of the metadata", selectable(".metadata.name")],
  ["a selectable field twice", selectable(".spec.a", ".spec.a")],
  ["kind and listKind alike", crdOf({}, { names: { plural: "tries", singular: "try", kind: "Try", listKind: "Try" } })],
];

/** CRDs that are refused; tried as dry runs, so nothing is installed. */
export const crdCases: readonly DifferentialCase[] = bad.map(([name, crd]) => ({
  name,
  resource: crdResource,
  steps: [{ do: "create", query: { dryRun: "All" }, body: crd }],
}));
