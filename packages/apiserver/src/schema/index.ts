import type { CompiledCrd, FieldError } from "./types.ts";

export type {
  CompiledCrd,
  CompiledVersion,
  FieldError,
  FieldErrorReason,
  JsonSchema,
  KindNames,
  PrinterColumn,
  SchemaNode,
  Subresources,
  ValidationResult,
  ValidationRule,
} from "./types.ts";

/** What became of a CRD: something that can be served, or why not, with field paths. */
export type CompileOutcome = { readonly ok: true; readonly crd: CompiledCrd } | { readonly ok: false; readonly errors: readonly FieldError[] };

/** Compiles a CustomResourceDefinition (apiextensions.k8s.io/v1, a plain object): names, structural-schema rules, CEL. */
export function compileCrd(_crd: unknown): CompileOutcome {
  throw new Error("in work");
}

/** The message of a 422 Status: `Kind.group "name" is invalid: ...`. `kind` is qualified with the group as in `Foo.example.com`. */
export function invalidMessage(_qualifiedKind: string, _name: string, _errors: readonly FieldError[]): string {
  throw new Error("in work");
}
