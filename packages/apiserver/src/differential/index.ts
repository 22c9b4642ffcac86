export { crdCases } from "./crd-cases.ts";
export { differentialCrds } from "./custom-kinds.ts";
export { mergeCases } from "./merge-cases.ts";
export { ruleCases } from "./rule-cases.ts";
export { differences, runCase, type Answer, type DifferentialCase } from "./run-case.ts";
export { valueCases } from "./value-cases.ts";
