import type { JsonObject } from "../json.ts";
import type { DifferentialCase, Resource, Step } from "./run-case.ts";

const resource = (apiVersion: string, kind: string, plural: string, namespaced = true): Resource => ({
  apiVersion,
  kind,
  plural,
  namespaced,
});
const configMap = resource("v1", "ConfigMap", "configmaps");
const pod = resource("v1", "Pod", "pods");
const deployment = resource("apps/v1", "Deployment", "deployments");
const decodings = (version: string): Resource => resource(`differential.example.com/${version}`, "DecodeKind", "decodekinds");

const labels = { a: "b" };
const template = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  selector: { matchLabels: labels },
  template: { metadata: { labels, ...metadata }, spec },
});
const onNode: JsonObject = {
  hostNetwork: true,
  initContainers: [{ name: "i", image: "i", ports: [{ containerPort: 81 }] }],
  containers: [{ name: "c", image: "i", ports: [{ containerPort: 80 }, { containerPort: 53, protocol: "UDP", hostPort: 53 }] }],
};
const apply = (manager: string, body: object, force = false): Step => ({
  do: "apply",
  manager,
  body,
  query: force ? { force: "true" } : {},
});
const text = { type: "string" };
const spec = (properties: JsonObject): JsonObject => ({
  openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } },
});
const version = (name: string, schema: JsonObject, more: JsonObject = {}): JsonObject => ({
  name,
  served: true,
  storage: false,
  schema,
  ...more,
});

/** A kind of three versions with different schemas, and with parts that the server reads as it reads its own. */
export const decodingCrd: JsonObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "decodekinds.differential.example.com" },
  spec: {
    group: "differential.example.com",
    scope: "Namespaced",
    names: { plural: "decodekinds", singular: "decodekind", kind: "DecodeKind", listKind: "DecodeKindList" },
    versions: [
      version("v1alpha1", spec({ a: text, old: text })),
      version("v1beta1", spec({ a: text, b: { type: "string", default: "beta" } })),
      version(
        "v1",
        spec({
          a: text,
          c: { type: "string", default: "one" },
          half: { type: "number", multipleOf: 0.5 },
          replicas: { type: "integer" },
          sets: {
            type: "array",
            "x-kubernetes-list-type": "set",
            items: { type: "object", "x-kubernetes-map-type": "atomic", properties: { a: text } },
          },
          inner: { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true },
          inners: {
            type: "array",
            items: { type: "object", "x-kubernetes-embedded-resource": true, properties: { spec: { type: "object" } } },
          },
        }),
        { storage: true, subresources: { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } } },
      ),
    ],
  },
};

const inner = (metadata: JsonObject): Step => ({ do: "create", body: { spec: { inner: { apiVersion: "v1", kind: "Pod", metadata } } } });
const innerMeta = (manager: string, metadata: JsonObject): Step =>
  apply(manager, { spec: { inner: { apiVersion: "v1", kind: "Pod", metadata } } });
const sets: JsonObject = { spec: { sets: [{ a: "1" }] } };

/** What the server reads otherwise than it was written: nulls, ports of a node, keys left out, other versions, embedded resources. */
export const decodingCases: readonly DifferentialCase[] = [
  {
    name: "nulls among texts",
    resource: configMap,
    steps: [
      { do: "create", body: { metadata: { labels: { a: null } }, data: { x: null, y: "1" } } },
      { do: "merge", body: { data: { y: null, z: "1" } } },
      apply("a", { metadata: { labels: { b: null }, annotations: null, finalizers: null }, data: { n: null } }),
    ],
  },
  {
    name: "nulls in what is applied",
    resource: deployment,
    steps: [
      apply("a", {
        spec: {
          replicas: null,
          strategy: null,
          ...template(
            {
              nodeSelector: null,
              securityContext: null,
              tolerations: null,
              containers: [{ name: "c", image: "i", env: null, args: [null] }],
            },
            { creationTimestamp: null },
          ),
        },
      }),
    ],
  },
  {
    name: "ports on a node's network",
    resource: deployment,
    steps: [{ do: "create", body: { spec: template(onNode) } }],
  },
  {
    name: "ports of a pod on a node's network",
    resource: pod,
    steps: [
      { do: "create", statusOnly: true, body: { spec: onNode } },
      { do: "json", body: [{ op: "test", path: "/spec/containers/0/ports/0/hostPort", value: 80 }], statusOnly: true },
    ],
  },
  {
    name: "containers without name",
    resource: deployment,
    steps: [apply("a", { spec: template({ containers: [{ image: "i", ports: [{ name: "x" }] }] }) })],
  },
  {
    name: "an owner without uid, and one more",
    resource: deployment,
    steps: [
      { do: "create", body: { spec: template({ containers: [{ name: "c", image: "i" }] }) } },
      { do: "strategic", statusOnly: true, body: { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "x" }] } } },
      { do: "strategic", body: { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "u" }] } } },
      { do: "strategic", body: { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "y" }] } } },
    ],
  },
  {
    name: "a Scale",
    resource: deployment,
    steps: [
      { do: "create", body: { spec: { replicas: 2, ...template({ containers: [{ name: "c", image: "i" }] }) } } },
      { do: "table", subresource: "scale" },
      { do: "merge", subresource: "scale", body: { spec: { replicas: 0 } } },
      { do: "table", subresource: "scale" },
    ],
  },
  {
    name: "labels of a template",
    resource: resource("apps/v1", "ReplicaSet", "replicasets"),
    steps: [{ do: "create", body: { spec: template({ containers: [{ name: "c", image: "i" }] }) } }],
  },
  {
    name: "labels of the older template",
    resource: resource("v1", "ReplicationController", "replicationcontrollers"),
    steps: [{ do: "create", body: { spec: { template: template({ containers: [{ name: "c", image: "i" }] })["template"] } } }],
  },
  {
    name: "ports of Endpoints",
    resource: resource("v1", "Endpoints", "endpoints"),
    steps: [{ do: "create", body: { subsets: [{ addresses: [{ ip: "10.1.1.1" }], ports: [{ port: 80 }] }] } }],
  },
  {
    name: "an Event",
    resource: resource("v1", "Event", "events"),
    steps: [{ do: "create", body: { involvedObject: { kind: "Pod", name: "p", namespace: "default" }, reason: "R", message: "M" } }],
  },
  {
    name: "an object of an old version",
    resource: decodings("v1alpha1"),
    steps: [{ do: "create", body: { spec: { a: "1", old: "x" } } }, { do: "get" }, { do: "merge", body: { spec: { old: "y" } } }],
  },
  {
    name: "an object of a version with another default",
    resource: decodings("v1beta1"),
    steps: [{ do: "create", body: { spec: { a: "1" } } }, { do: "get" }, { do: "merge", body: { spec: { a: "2" } } }],
  },
  {
    name: "parts of numbers",
    resource: decodings("v1"),
    steps: [2, 1.5, 1.3].map((half): Step => ({ do: "create", body: { spec: { half } } })),
  },
  {
    name: "the Scale of a custom object",
    resource: decodings("v1"),
    steps: [
      { do: "create", body: { spec: { replicas: 3 } } },
      { do: "table", subresource: "scale" },
    ],
  },
  {
    name: "an applied set of objects",
    resource: decodings("v1"),
    steps: [apply("a", sets)],
  },
  {
    name: "embedded metadata of wrong types",
    resource: decodings("v1"),
    steps: [
      inner({ labels: { a: 1 } }),
      inner({ name: "x", generation: "x", finalizers: ["a"] }),
      inner({ creationTimestamp: "garbage" }),
      {
        do: "create",
        body: {
          spec: {
            inners: [
              { apiVersion: "v1", kind: "Pod" },
              { apiVersion: "v1", kind: "Pod", metadata: { name: 1 } },
            ],
          },
        },
      },
    ],
  },
  {
    name: "embedded types that are no text",
    resource: decodings("v1"),
    steps: [
      { do: "create", body: { spec: { inner: { apiVersion: 1, kind: "X" } } } },
      { do: "create", body: { spec: { inner: { apiVersion: "v1", kind: true } } } },
      { do: "create", body: { spec: { inner: { apiVersion: null, kind: "X" } } } },
      { do: "create", body: { spec: { inner: { apiVersion: ["a"], kind: "X" } } } },
      { do: "create", body: { spec: { inner: { apiVersion: "v1", kind: {} } } } },
      { do: "create", body: { spec: { inner: { apiVersion: "v1", kind: "X" } } } },
      { do: "merge", body: { spec: { inner: { kind: 5 } } }, statusOnly: true },
      { do: "apply", body: { spec: { inner: { apiVersion: "v1", kind: 5 } } } },
    ],
  },
  {
    name: "embedded metadata of two managers",
    resource: decodings("v1"),
    steps: [
      innerMeta("a", { name: "x", labels: { a: "b" }, finalizers: ["a.b/c"] }),
      innerMeta("b", {
        labels: { c: "d" },
        finalizers: ["a.b/c", "d.e/f"],
        ownerReferences: [{ apiVersion: "v1", kind: "x", name: "n", uid: "u" }],
      }),
      innerMeta("a", { name: "x" }),
    ],
  },
  {
    name: "fields that nobody knows, in order",
    resource: decodings("v1"),
    steps: [{ do: "create", query: { fieldValidation: "Strict" }, body: { extra: 1, metadata: { foo: 1 }, spec: { z: 1 } } }],
  },
];
