import type { JsonObject } from "../json.ts";

/** `reason` of a cause in a Status, as `metav1.CauseType` and `field.ErrorType` spell them. */
export type FieldErrorReason =
  | "FieldValueNotFound"
  | "FieldValueRequired"
  | "FieldValueDuplicate"
  | "FieldValueInvalid"
  | "FieldValueNotSupported"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTooMany"
  | "FieldValueTypeInvalid"
  | "InternalError";

/** One cause of a 422 answer. */
export interface FieldError {
  readonly reason: FieldErrorReason;
  /** For example `spec.machines[0].address`; `<nil>` where the genuine server prints that. */
  readonly field: string;
  /** Without the field: `Invalid value: "x": spec.foo in body should match '^a$'`. */
  readonly message: string;
}

/** What validation found. No errors means accepted; warnings go into `Warning` headers. */
export interface ValidationResult {
  readonly errors: readonly FieldError[];
  readonly warnings: readonly string[];
}

/** One CEL rule as written in `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

/** The schema language of CRDs (`JSONSchemaProps` of apiextensions.k8s.io/v1), plus the two patch keys that built-in kinds carry. */
export interface JsonSchema {
  readonly type?: string;
  readonly format?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly externalDocs?: { readonly url?: string; readonly description?: string };
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
  readonly "x-kubernetes-patch-merge-key"?: string;
  readonly "x-kubernetes-patch-strategy"?: string;
  /** Built-in kinds only: the field is a struct of the genuine server, which prints it even when empty. */
  readonly "x-go-struct"?: boolean;
}

/** A printer column as a CRD declares it. `type`: string, integer, number, boolean, date. `priority` above 0 shows with `-o wide` only. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath: string;
}

/** Names and scope of a served kind. */
export interface KindNames {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

/** Subresources of a version. Paths as in the CRD, with the leading dot. */
export interface Subresources {
  readonly status: boolean;
  readonly scale?: { readonly specReplicasPath: string; readonly statusReplicasPath: string; readonly labelSelectorPath?: string };
}

/** One served version of one kind, compiled. Immutable and free of I/O; built-in kinds have the same shape. */
export interface CompiledVersion {
  readonly group: string;
  readonly version: string;
  /** `group/version`, or `v1`. */
  readonly apiVersion: string;
  readonly names: KindNames;
  readonly namespaced: boolean;
  readonly served: boolean;
  readonly storage: boolean;
  /** Text of the `Warning` header when the version is deprecated. */
  readonly deprecationWarning?: string;
  readonly subresources: Subresources;
  readonly columns: readonly PrinterColumn[];
  readonly selectableFields: readonly string[];
  /** The whole object's schema with apiVersion, kind and metadata typed in. */
  readonly root: SchemaNode;
  /** What an object without any field looks like: `{}`, or for built-in kinds the structs that are always there. */
  readonly emptyObject: JsonObject;
  /** The schema as declared, for OpenAPI. */
  readonly schema: JsonSchema;
  /**
   * Validates a defaulted, pruned object; metadata itself (name, labels) is the caller's. With `old` the call is an update: transition
   * rules run, and errors of values that did not change are forgiven (ratcheting).
   */
  validate(object: JsonObject, old: JsonObject | undefined, options: { readonly subresource: "" | "status" }): ValidationResult;
  /**
   * Fills defaults into `object`, in place, and drops nulls that the schema does not allow. With `keepNulls` (after server-side apply) those
   * stay and validation reports them.
   */
  applyDefaults(object: JsonObject, options?: { readonly keepNulls?: boolean }): void;
  /** Removes undeclared fields from `object`, in place. Returns their paths as `unknown field "spec.foo"` wants them, in order of occurrence. */
  prune(object: JsonObject): readonly string[];
}

/** A CRD that can be served. */
export interface CompiledCrd {
  readonly name: string;
  readonly group: string;
  readonly names: KindNames;
  readonly namespaced: boolean;
  readonly versions: ReadonlyMap<string, CompiledVersion>;
  readonly storageVersion: string;
}

/** A schema made ready for walking. Children are shared and may be cyclic (built-in kinds only). */
export interface SchemaNode {
  readonly source: JsonSchema;
  readonly type: "object" | "array" | "string" | "integer" | "number" | "boolean" | "";
  readonly nullable: boolean;
  readonly intOrString: boolean;
  readonly preserveUnknown: boolean;
  readonly embedded: boolean;
  /** True when this node or one below is an embedded resource. */
  readonly embeddedBelow: boolean;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  /** Schema of values of undeclared keys; `true` allows anything; `undefined` allows none. */
  readonly additional: SchemaNode | true | undefined;
  readonly items: SchemaNode | undefined;
  readonly hasDefault: boolean;
  readonly defaultValue: unknown;
  /** True when this node or one below carries a default, so that walks can skip the rest. */
  readonly defaultsBelow: boolean;
  readonly listType: "atomic" | "set" | "map";
  readonly listMapKeys: readonly string[];
  readonly mapType: "granular" | "atomic";
  readonly patchStrategy: readonly string[];
  readonly patchMergeKey: string | undefined;
  /** Part of a built-in kind's schema. */
  readonly isBuiltin: boolean;
  /** The genuine server prints the field even when it is empty. */
  readonly isStruct: boolean;
}
