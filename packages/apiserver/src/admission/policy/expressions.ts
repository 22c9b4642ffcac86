import type { Environment } from "@marcbachmann/cel-js";
import { explainEvaluation } from "../../cel/explain.ts";
import { meteredProgram, type MeteredProgram } from "../../cel/cost/meter.ts";
import { prepareExpression } from "../../cel/names.ts";
import { parseExpression } from "../../cel/parse-expression.ts";
import { libraryEnvironment } from "../../cel/shared-environments.ts";
import { registerAuthorizer } from "./authorizer.ts";

let policies: Environment | undefined;

/** What expressions of policies may name; none of it has a type that is known before a request comes. */
function policyEnvironment(): Environment {
  if (policies === undefined) {
    policies = libraryEnvironment().clone();
    registerAuthorizer(policies);
    for (const name of ["object", "oldObject", "request", "params", "namespaceObject", "variables"]) policies.registerVariable(name, "dyn");
    policies.registerVariable("authorizer", "Authorizer");
  }
  return policies;
}

/** The text that the engine reads. */
function prepared(expression: string): string {
  // The one member of `authorizer` that is no function there.
  return prepareExpression(expression).text.replaceAll(/\bauthorizer\.requestResource\b(?!\s*\()/gu, "authorizer.requestedResource()");
}

/** What an expression of a policy gives: its type, or why it does not compile. */
export function checkExpression(
  expression: string,
): { readonly ok: true; readonly type: string } | { readonly ok: false; readonly why: string } {
  try {
    const verdict = parseExpression(policyEnvironment(), prepared(expression)).check();
    if (verdict.valid) return { ok: true, type: verdict.type ?? "dyn" };
    return { ok: false, why: explainEvaluation(verdict.error) };
  } catch (error) {
    return { ok: false, why: explainEvaluation(error) };
  }
}

/** An expression, ready to be evaluated often. Call it for what `checkExpression` found good. */
export function compileExpression(expression: string): MeteredProgram {
  return meteredProgram(parseExpression(policyEnvironment(), prepared(expression)));
}
