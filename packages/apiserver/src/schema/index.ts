export { compileCrd } from "./crd.ts";
export type { CompiledCrd, CompiledVersion, FieldError, JsonSchema, KindNames, PrinterColumn, SchemaNode } from "./types.ts";
export { checkVersionParts, warningsOfFormats } from "./version-parts.ts";
export { compareVersions } from "./version-order.ts";
