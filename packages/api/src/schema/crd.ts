import type { Resource } from "../meta/resource.ts";
import { apiVersionOf } from "../meta/resource.ts";
import type { Field } from "./field.ts";
import type { JsonSchema } from "./json-schema.ts";

/** A CustomResourceDefinition as plain data, ready for the API or for YAML. */
export interface CustomResourceDefinition {
  readonly apiVersion: "apiextensions.k8s.io/v1";
  readonly kind: "CustomResourceDefinition";
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly group: string;
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames: readonly string[];
      readonly categories?: readonly string[];
    };
    readonly scope: "Namespaced" | "Cluster";
    readonly versions: readonly CustomResourceVersion[];
  };
}

/** One version of a custom resource. */
export interface CustomResourceVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: JsonSchema };
  readonly subresources: { readonly status: Readonly<Record<string, never>> };
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
}

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "date" | "integer" | "boolean";
  readonly jsonPath: string;
  /** 1 shows the column with `-o wide` only. */
  readonly priority?: number;
}

/** The Age column, last in every table. */
export const ageColumn: PrinterColumn = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** A kind: where it lives, what it means, what it holds, how it is listed. The CRD and the reference page come from it. */
export interface KindDefinition {
  readonly resource: Resource;
  /** Names under which `kubectl get` lists it together with other kinds. Default: none. */
  readonly categories?: readonly string[];
  /** One sentence, shown by `kubectl explain`. */
  readonly description: string;
  readonly spec: Field<unknown>;
  readonly status: Field<unknown>;
  readonly printerColumns: readonly PrinterColumn[];
}

/** The CustomResourceDefinition of a kind. Same input, same key order, same bytes once printed. */
export function customResourceDefinition(definition: KindDefinition): CustomResourceDefinition {
  const { resource, categories, printerColumns } = definition;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${resource.plural}.${resource.group}` },
    spec: {
      group: resource.group,
      names: {
        kind: resource.kind,
        listKind: resource.listKind,
        plural: resource.plural,
        singular: resource.singular,
        shortNames: resource.shortNames,
        ...(categories && { categories }),
      },
      scope: resource.namespaced ? "Namespaced" : "Cluster",
      versions: [
        {
          name: resource.version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: rootSchema(definition) },
          subresources: { status: {} },
          ...(printerColumns.length > 0 && { additionalPrinterColumns: printerColumns }),
        },
      ],
    },
  };
}

function rootSchema({ resource, description, spec, status }: KindDefinition): JsonSchema {
  return {
    type: "object",
    description,
    ...(spec.isRequired && { required: ["spec"] }),
    properties: {
      apiVersion: { type: "string", description: `Always ${apiVersionOf(resource)}.` },
      kind: { type: "string", description: `Always ${resource.kind}.` },
      metadata: { type: "object" },
      spec: spec.schema,
      status: status.schema,
    },
  };
}
