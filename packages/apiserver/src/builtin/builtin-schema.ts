import type { JsonSchema } from "../schema/index.ts";

/** A schema of a built-in kind as generated: shapes only, shared parts by name. */
export interface BuiltinSchema extends Omit<JsonSchema, "properties" | "items" | "additionalProperties"> {
  /** Name of a shared definition. */
  readonly $ref?: string;
  /** A part described elsewhere (`ObjectMeta`) or not at all (any JSON). */
  readonly $open?: string;
  readonly properties?: Readonly<Record<string, BuiltinSchema>>;
  readonly items?: BuiltinSchema;
  readonly additionalProperties?: BuiltinSchema;
}

/** Names, scope and printer columns of a built-in kind as generated. */
export interface BuiltinFacts {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Name of its schema among the definitions. */
  readonly definition: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly status: boolean;
  readonly scale: boolean;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly format?: string; readonly priority?: number }[];
}
