export { compileCrd, type CompileOutcome } from "./crd.ts";
export { fieldError, invalidMessage } from "./field-error.ts";
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
