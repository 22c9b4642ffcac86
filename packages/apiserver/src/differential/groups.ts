import { boundCases } from "./bound-cases.ts";
import { builtinRuleCases } from "./builtin-rule-cases.ts";
import { builtinCases } from "./builtin-cases.ts";
import { chartCases } from "./chart-cases.ts";
import { costCases } from "./cost-cases.ts";
import { crdCases } from "./crd-cases.ts";
import { crdRefusalCases } from "./crd-refusal-cases.ts";
import { decodingCases } from "./decoding-cases.ts";
import { mergeCases } from "./merge-cases.ts";
import { podSecurityCases } from "./pod-security-cases.ts";
import { ruleCases } from "./rule-cases.ts";
import type { DifferentialCase } from "./run-case.ts";
import { valueCases } from "./value-cases.ts";

/** All cases; the group names the golden file. */
export const differentialGroups: Readonly<Record<string, readonly DifferentialCase[]>> = {
  values: prefixed("a value", valueCases),
  rules: prefixed("a rule", ruleCases),
  merges: prefixed("a merge", mergeCases),
  builtins: prefixed("a built-in kind", builtinCases),
  "builtin-rules": prefixed("a", builtinRuleCases),
  crds: prefixed("a CRD", crdCases),
  "crd-refusals": prefixed("a CRD", crdRefusalCases),
  costs: prefixed("a price", costCases),
  decodings: prefixed("reading", decodingCases),
  bounds: prefixed("a", boundCases),
  charts: prefixed("a chart's", chartCases),
  "pod-security": prefixed("pod security of a", podSecurityCases),
};

function prefixed(prefix: string, cases: readonly DifferentialCase[]): readonly DifferentialCase[] {
  return cases.map((one) => ({ ...one, name: `${prefix}: ${one.name}` }));
}

/** A name for the object of a case. */
export function objectNameOf({ name }: DifferentialCase): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/gu, "-")
    .replaceAll(/^-+|-+$/gu, "");
}
