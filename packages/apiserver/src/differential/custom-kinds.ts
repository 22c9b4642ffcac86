import { decodingCrd } from "./decoding-cases.ts";
import type { JsonObject } from "../json.ts";
import type { Resource } from "./run-case.ts";

const text = { type: "string" };

function customKind(name: string, kind: string, schema: JsonObject, version: JsonObject = {}): { crd: JsonObject; resource: Resource } {
  const group = "differential.example.com";
  return {
    resource: { apiVersion: `${group}/v1`, kind, plural: name, namespaced: true },
    crd: {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${name}.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural: name, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object", ...schema } }, ...version }],
      },
    },
  };
}

const named = {
  type: "object",
  required: ["name"],
  properties: { name: text, value: { type: "integer" }, note: text, inner: { type: "object", properties: { a: text, b: text } } },
};

/** Every type, format and limit. */
export const values = customKind("valuekinds", "ValueKind", {
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      required: ["must"],
      properties: {
        must: text,
        text,
        integer: { type: "integer" },
        int32: { type: "integer", format: "int32" },
        int64: { type: "integer", format: "int64" },
        number: { type: "number" },
        double: { type: "number", format: "double" },
        boolean: { type: "boolean" },
        port: { "x-kubernetes-int-or-string": true },
        share: { anyOf: [{ type: "integer" }, { type: "string" }], pattern: "^[0-9]+%?$", "x-kubernetes-int-or-string": true },
        nothing: { type: "string", nullable: true },
        color: { type: "string", enum: ["red", "green", "blue"] },
        level: { type: "integer", enum: [1, 2, 3] },
        code: { type: "string", pattern: "^[a-z]{2}-\\d+$", minLength: 4, maxLength: 8 },
        short: { type: "string", maxLength: 3 },
        size: { type: "integer", minimum: 1, maximum: 10 },
        open: { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true },
        even: { type: "integer", multipleOf: 2 },
        list: { type: "array", items: text, minItems: 1, maxItems: 3 },
        labels: { type: "object", additionalProperties: text, maxProperties: 2 },
        atLeastOne: { type: "object", additionalProperties: { type: "integer" }, minProperties: 1 },
        set: { type: "array", items: text, "x-kubernetes-list-type": "set" },
        items: { type: "array", items: named, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] },
        date: { type: "string", format: "date" },
        dateTime: { type: "string", format: "date-time" },
        duration: { type: "string", format: "duration" },
        bytes: { type: "string", format: "byte" },
        ipv4: { type: "string", format: "ipv4" },
        ipv6: { type: "string", format: "ipv6" },
        cidr: { type: "string", format: "cidr" },
        mac: { type: "string", format: "mac" },
        uuid: { type: "string", format: "uuid" },
        uri: { type: "string", format: "uri" },
        hostname: { type: "string", format: "hostname" },
        email: { type: "string", format: "email" },
        unknownFormat: { type: "string", format: "something-else" },
        anything: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        partlyOpen: {
          type: "object",
          "x-kubernetes-preserve-unknown-fields": true,
          properties: { closed: { type: "object", properties: { a: text } } },
        },
        free: { "x-kubernetes-preserve-unknown-fields": true },
        anyValue: { type: "object", additionalProperties: true },
        template: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
        resource: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          properties: { metadata: { type: "object" }, spec: { type: "object", properties: { a: text } } },
        },
        either: { type: "object", properties: { a: text, b: text }, oneOf: [{ required: ["a"] }, { required: ["b"] }] },
        some: { type: "object", properties: { a: text, b: text }, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
        both: { type: "object", properties: { a: text, b: text }, allOf: [{ required: ["a"] }, { required: ["b"] }] },
        never: { type: "object", properties: { a: text, b: text }, not: { required: ["a", "b"] } },
        defaults: {
          type: "object",
          default: {},
          properties: {
            a: { type: "string", default: "x" },
            n: { type: "integer", default: 3 },
            deep: {
              type: "object",
              default: { on: true },
              properties: { on: { type: "boolean" }, off: { type: "boolean", default: false } },
            },
            list: { type: "array", items: { type: "object", properties: { d: { type: "string", default: "item" } } } },
          },
        },
        noEmptyDefault: { type: "object", properties: { a: { type: "string", default: "only when the parent is there" } } },
      },
    },
    status: { type: "object", properties: { phase: text } },
  },
});

/** CEL rules. */
export const rules = customKind(
  "rulekinds",
  "RuleKind",
  {
    properties: {
      spec: {
        type: "object",
        "x-kubernetes-validations": [
          { rule: "self.mode != 'big' || self.count >= 10", message: "count must be 10 or more in mode big" },
          {
            rule: "!has(self.low) || !has(self.high) || self.low <= self.high",
            messageExpression: "self.high < 0 ? 'high is negative' : 'low is above high'",
            fieldPath: ".low",
          },
          { rule: "self.count != 13", reason: "FieldValueForbidden" },
          { rule: "!has(oldSelf.fixed) || has(self.fixed)", message: "fixed may not be removed" },
        ],
        properties: {
          mode: { type: "string", maxLength: 20, default: "small" },
          count: { type: "integer", default: 1 },
          low: { type: "integer" },
          high: { type: "integer" },
          fixed: {
            type: "string",
            maxLength: 20,
            "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed is immutable" }],
          },
          grows: {
            type: "integer",
            "x-kubernetes-validations": [
              { rule: "!oldSelf.hasValue() || self >= oldSelf.value()", optionalOldSelf: true, message: "grows may only grow" },
            ],
          },
          odd: { type: "integer", "x-kubernetes-validations": [{ rule: "self % 2 == 1", message: "must be odd" }] },
          ratio: { type: "number", "x-kubernetes-validations": [{ rule: "self > 0.0 && self < 1", message: "must be between 0 and 1" }] },
          flag: { type: "boolean", "x-kubernetes-validations": [{ rule: "self", message: "must be true" }] },
          address: { type: "string", maxLength: 50, "x-kubernetes-validations": [{ rule: "isIP(self)", message: "must be an address" }] },
          block: {
            type: "string",
            maxLength: 50,
            "x-kubernetes-validations": [
              {
                rule: "isCIDR(self) && cidr(self).prefixLength() >= 8 && !cidr(self).containsIP('10.0.0.1')",
                message: "must be a block of 8 bits or more without 10.0.0.1",
              },
            ],
          },
          url: {
            type: "string",
            maxLength: 100,
            "x-kubernetes-validations": [
              {
                rule: "isURL(self) && url(self).getScheme() == 'https' && url(self).getPort() != ''",
                message: "must be https with a port",
              },
            ],
          },
          memory: {
            type: "string",
            maxLength: 20,
            "x-kubernetes-validations": [
              { rule: "isQuantity(self) && quantity(self).compareTo(quantity('1Gi')) >= 0", message: "must be 1Gi or more" },
            ],
          },
          when: {
            type: "string",
            format: "date-time",
            "x-kubernetes-validations": [{ rule: "self > timestamp('2020-01-01T00:00:00Z')", message: "must be after 2020" }],
          },
          wait: {
            type: "string",
            format: "duration",
            "x-kubernetes-validations": [{ rule: "self <= duration('1h')", message: "must be an hour or less" }],
          },
          words: {
            type: "array",
            maxItems: 10,
            items: { type: "string", maxLength: 20 },
            "x-kubernetes-validations": [
              { rule: "self.all(w, w.matches('^[a-z]+$')) && self.isSorted()", message: "must be sorted lower-case words" },
            ],
          },
          items: {
            type: "array",
            maxItems: 10,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "x-kubernetes-validations": [
              { rule: "self.filter(i, has(i.value)).map(i, i.value).sum() <= 100", message: "values may add up to 100" },
            ],
            items: {
              type: "object",
              required: ["name"],
              properties: {
                name: { type: "string", maxLength: 20 },
                value: { type: "integer", "x-kubernetes-validations": [{ rule: "self >= oldSelf", message: "value may not shrink" }] },
              },
            },
          },
          labels: {
            type: "object",
            maxProperties: 10,
            additionalProperties: {
              type: "string",
              maxLength: 20,
              "x-kubernetes-validations": [{ rule: "self.size() > 1", message: "values need two characters" }],
            },
            "x-kubernetes-validations": [{ rule: "self.all(k, k.startsWith('x-'))", message: "keys start with x-" }],
          },
          "dash-ed": { type: "string", maxLength: 20 },
          namespace: { type: "string", maxLength: 20 },
          escaped: { type: "boolean" },
          unique: {
            type: "array",
            maxItems: 10,
            items: { type: "string", maxLength: 20 },
            "x-kubernetes-validations": [
              { rule: "self.all(a, self.exists_one(b, a == b))", message: "words are unique", reason: "FieldValueDuplicate" },
            ],
          },
          maybe: {
            type: "object",
            properties: { a: { type: "string", maxLength: 20 }, b: { type: "string", maxLength: 20 } },
            "x-kubernetes-validations": [{ rule: "self.?a.hasValue() || !self.?b.hasValue()", message: "b needs a" }],
          },
          untyped: {
            "x-kubernetes-int-or-string": true,
            "x-kubernetes-validations": [
              { rule: "type(self) == int ? self > 0 : self.endsWith('%')", message: "positive or a percentage" },
            ],
          },
        },
      },
      status: {
        type: "object",
        properties: {
          count: { type: "integer", "x-kubernetes-validations": [{ rule: "self < 100", message: "status.count must stay below 100" }] },
        },
      },
    },
    "x-kubernetes-validations": [
      { rule: "!self.metadata.name.startsWith('forbidden')", message: "names may not start so" },
      {
        rule: "!has(self.spec.escaped) || !self.spec.escaped || (has(self.spec.dash__dash__ed) && self.spec.__namespace__ == 'n')",
        message: "escaped needs both",
      },
    ],
  },
  { subresources: { status: {} } },
);

/** Merging: every list and map type, with status. */
export const merges = customKind(
  "mergekinds",
  "MergeKind",
  {
    properties: {
      spec: {
        type: "object",
        properties: {
          text,
          integer: { type: "integer" },
          boolean: { type: "boolean" },
          port: { "x-kubernetes-int-or-string": true },
          labels: { type: "object", additionalProperties: text },
          selector: { type: "object", additionalProperties: text, "x-kubernetes-map-type": "atomic" },
          object: {
            type: "object",
            properties: { a: text, b: { type: "string", default: "filled" }, c: { type: "object", properties: { d: text } } },
          },
          atomic: { type: "object", "x-kubernetes-map-type": "atomic", properties: { a: text, b: text } },
          list: { type: "array", items: text },
          set: { type: "array", items: text, "x-kubernetes-list-type": "set" },
          numbers: { type: "array", items: { type: "integer" }, "x-kubernetes-list-type": "set" },
          items: { type: "array", items: named, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] },
          ports: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port", "protocol"],
            items: {
              type: "object",
              required: ["port"],
              properties: { port: { type: "integer" }, protocol: { type: "string", default: "TCP" }, name: text },
            },
          },
          objects: { type: "array", items: named },
          anything: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          nothing: { type: "string", nullable: true },
          nested: { type: "object", additionalProperties: { type: "object", additionalProperties: text } },
        },
      },
      status: {
        type: "object",
        properties: {
          phase: text,
          conditions: {
            type: "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
            items: { type: "object", required: ["type"], properties: { type: text, status: text, reason: text } },
          },
        },
      },
    },
  },
  {
    subresources: { status: {} },
    additionalPrinterColumns: [
      { name: "Text", type: "string", jsonPath: ".spec.text" },
      { name: "Integer", type: "integer", jsonPath: ".spec.integer", priority: 1 },
      { name: "Boolean", type: "boolean", jsonPath: ".spec.boolean" },
      { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
      { name: "Names", type: "string", jsonPath: ".spec.items[*].name" },
      { name: "First", type: "string", jsonPath: ".spec.items[0].name" },
      { name: "List", type: "string", jsonPath: ".spec.list" },
      { name: "Object", type: "string", jsonPath: ".spec.object" },
      { name: "Label", type: "string", jsonPath: ".metadata.labels['app\\.example\\.com/name']" },
      { name: "Mismatch", type: "integer", jsonPath: ".spec.text" },
      { name: "Old", type: "date", jsonPath: ".spec.nothing" },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ],
  },
);

const pairs = (list: string): string => `${list}.all(x, ${list}.all(y, x == y))`;
const shortWords = (maxItems: number): JsonObject => ({ type: "array", maxItems, items: { type: "string", maxLength: 5 } });

/** Rules that are cheap enough to be declared and can still cost too much. */
export const costs = customKind("costkinds", "CostKind", {
  properties: {
    spec: {
      type: "object",
      properties: {
        words: { ...shortWords(1000), "x-kubernetes-validations": [{ rule: pairs("self") }, { rule: "self.size() < 3000" }] },
        told: {
          ...shortWords(1000),
          "x-kubernetes-validations": [{ rule: "self.size() < 5", messageExpression: `string(${pairs("self")})` }],
        },
        eager: { ...shortWords(1000), "x-kubernetes-validations": [{ rule: `${pairs("self")} || true`, message: "never seen" }] },
        items: {
          type: "array",
          maxItems: 100,
          items: {
            type: "object",
            properties: { words: shortWords(100) },
            "x-kubernetes-validations": [{ rule: pairs("self.words") }, { rule: `${pairs("self.words")} && self.words.size() > 0` }],
          },
        },
      },
    },
  },
});

/** CRDs of the suite. */
export const differentialCrds: readonly JsonObject[] = [values.crd, rules.crd, merges.crd, costs.crd, decodingCrd];
