export { compileCrd } from "./crd.ts";
export type { CompiledCrd, CompiledVersion, FieldError, JsonSchema, KindNames, PrinterColumn, SchemaNode } from "./types.ts";
