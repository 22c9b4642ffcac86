/**
 * A structural schema as `apiextensions.k8s.io/v1` takes it: the part of OpenAPI v3 that custom resources may use.
 *
 * Keys are the wire names, so a schema prints as it is.
 *
 * @see kubernetes/apiextensions-apiserver `pkg/apis/apiextensions/v1/types_jsonschema.go`
 */
export interface JsonSchema {
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly description?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly enum?: readonly (string | boolean)[];
  readonly nullable?: true;
  /** RE2 on the real server. Patterns of ours stay inside what RE2 and JavaScript read alike. */
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly "x-kubernetes-int-or-string"?: true;
  readonly "x-kubernetes-preserve-unknown-fields"?: true;
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

/** A CEL rule on a schema node. `oldSelf` in it makes it a transition rule, checked on update only. */
export interface ValidationRule {
  readonly rule: string;
  /** What the user reads when the rule is false. */
  readonly message: string;
}
