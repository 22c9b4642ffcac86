import type { JsonSchema } from "./types.ts";

const text: JsonSchema = { type: "string" };
const texts: JsonSchema = { type: "object", additionalProperties: { type: "string" } };
const time: JsonSchema = { type: "string", format: "date-time" };

/** Schema of `metadata`, the same for every kind: list types and patch keys decide how server-side apply and patches merge it. */
export const objectMetaSchema: JsonSchema = {
  type: "object",
  description: "Standard object metadata.",
  properties: {
    annotations: texts,
    creationTimestamp: { ...time, nullable: true },
    deletionGracePeriodSeconds: { type: "integer", format: "int64" },
    deletionTimestamp: { ...time, nullable: true },
    finalizers: { type: "array", items: text, "x-kubernetes-list-type": "set", "x-kubernetes-patch-strategy": "merge" },
    generateName: text,
    generation: { type: "integer", format: "int64" },
    labels: texts,
    managedFields: {
      type: "array",
      "x-kubernetes-list-type": "atomic",
      items: {
        type: "object",
        properties: {
          apiVersion: text,
          fieldsType: text,
          fieldsV1: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          manager: text,
          operation: text,
          subresource: text,
          time: { ...time, nullable: true },
        },
      },
    },
    name: text,
    namespace: text,
    ownerReferences: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["uid"],
      "x-kubernetes-patch-merge-key": "uid",
      "x-kubernetes-patch-strategy": "merge",
      items: {
        type: "object",
        "x-kubernetes-map-type": "atomic",
        properties: {
          apiVersion: text,
          blockOwnerDeletion: { type: "boolean" },
          controller: { type: "boolean" },
          kind: text,
          name: text,
          uid: text,
        },
      },
    },
    resourceVersion: text,
    selfLink: text,
    uid: text,
  },
};
