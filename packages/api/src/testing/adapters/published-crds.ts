import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CustomResourceDefinition, PrinterColumn } from "../../schema/crd.ts";
import type { JsonSchema } from "../../schema/json-schema.ts";

interface RecordedField {
  readonly kind: string;
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  readonly requiredChildren?: readonly string[];
  readonly xValidation?: JsonSchema["x-kubernetes-validations"];
  readonly [keyword: string]: unknown;
}

interface RecordedKind {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly scope: "Namespaced" | "Cluster";
  readonly version: string;
  readonly printerColumns: readonly PrinterColumn[];
}

/**
 * The CRDs of `vitistack.io` as the library publishes them (v0.8.70), rebuilt from what was recorded of their fields: what this operator
 * finds where somebody else has installed the kinds. Fields of ours are pruned there, and a server-side apply of them is refused.
 */
export function publishedCrds(): readonly CustomResourceDefinition[] {
  const read = (name: string): unknown => JSON.parse(readFileSync(join(import.meta.dirname, "../../../testdata/published", name), "utf8"));
  const fields = read("vitistack-fields.json") as readonly RecordedField[];
  return (read("vitistack-kinds.json") as readonly RecordedKind[]).map((kind) => {
    const own = new Map(fields.filter((field) => field.kind === kind.kind).map((field) => [field.path, field]));
    return {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${kind.plural}.${kind.group}` },
      spec: {
        group: kind.group,
        names: { kind: kind.kind, listKind: kind.listKind, plural: kind.plural, singular: kind.singular, shortNames: kind.shortNames },
        scope: kind.scope,
        versions: [
          {
            name: kind.version,
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: "object",
                properties: {
                  apiVersion: { type: "string" },
                  kind: { type: "string" },
                  metadata: { type: "object" },
                  spec: schemaAt(own, "spec"),
                  status: schemaAt(own, "status"),
                },
              },
            },
            subresources: { status: {} },
            additionalPrinterColumns: kind.printerColumns,
          },
        ],
      },
    };
  });
}

function schemaAt(fields: ReadonlyMap<string, RecordedField>, path: string): JsonSchema {
  const recorded = fields.get(path);
  if (recorded === undefined) throw new Error(`${path} is not recorded`);
  const {
    kind: _,
    version: __,
    path: ___,
    required: ____,
    requiredChildren,
    xValidation,
    type,
    additionalProperties,
    ...keywords
  } = recorded;
  const below = [...fields.keys()].filter(
    (one) => one.startsWith(`${path}.`) && !/[.[]/.test(one.slice(path.length + 1)) && !one.endsWith(".*"),
  );
  return {
    ...(keywords as JsonSchema),
    ...(type !== "int-or-string" && { type: type as NonNullable<JsonSchema["type"]> }),
    ...(requiredChildren && { required: requiredChildren }),
    ...(xValidation && { "x-kubernetes-validations": xValidation }),
    ...(additionalProperties !== undefined && { additionalProperties: { type: "string" } }),
    ...(below.length > 0 && { properties: Object.fromEntries(below.map((one) => [one.slice(path.length + 1), schemaAt(fields, one)])) }),
    ...(fields.has(`${path}[]`) && { items: schemaAt(fields, `${path}[]`) }),
  };
}
