/** Part of an OpenAPI schema. */
export type Schema = Readonly<Record<string, unknown>>;

export const text: Schema = { type: "string" };
export const count: Schema = { type: "integer" };
export const flag: Schema = { type: "boolean" };
export const open: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
export const list = (items: Schema, more: Schema = {}): Schema => ({ type: "array", items, ...more });
export const map = (additionalProperties: Schema): Schema => ({ type: "object", additionalProperties });
export const struct = (properties: Readonly<Record<string, Schema>>, ...required: readonly string[]): Schema => ({
  type: "object",
  properties,
  ...(required.length === 0 ? {} : { required }),
});
const conditions = list(
  struct(
    {
      type: { ...text, maxLength: 316 },
      status: { ...text, enum: ["True", "False", "Unknown"] },
      reason: text,
      message: text,
      lastTransitionTime: { ...text, format: "date-time" },
    },
    "type",
    "status",
  ),
  { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] },
);
export const ready = { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' };
export const age = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };
export const column = (name: string, jsonPath: string, type = "string", more: object = {}): object => ({ name, type, jsonPath, ...more });

/** A custom kind, as far as it differs from the others. */
export interface Kind {
  readonly kind: string;
  readonly plural: string;
  readonly group: string;
  readonly spec: Schema;
  readonly scope?: "Cluster";
  readonly names?: object;
  readonly columns?: readonly object[];
  /** Members of the version besides its schema. */
  readonly version?: object;
  readonly versions?: readonly object[];
}

/** The CustomResourceDefinition of a kind; every status has the same fields. */
export function definition({ kind, plural, group, spec, scope, names, columns, version, versions }: Kind): object {
  const status = struct({
    conditions,
    phase: text,
    url: text,
    health: text,
    sync: struct({ status: text, revision: text }),
    instances: count,
    currentPrimary: text,
  });
  const main = {
    name: "v1",
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { ...struct({ spec, status }), description: `${kind} is one of those.` } },
    subresources: { status: {} },
    ...(columns === undefined ? {} : { additionalPrinterColumns: columns }),
    ...version,
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: scope ?? "Namespaced",
      names: { plural, kind, singular: kind.toLowerCase(), ...names },
      versions: [main, ...(versions ?? []).map((one) => ({ ...main, ...one }))],
    },
  };
}
