export { compileCrd, type CompileOutcome } from "./crd.ts";
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
