import { conditionCatalogue } from "@talos-operator/api";
import type { ConditionEntry } from "@talos-operator/api";
import type { DecisionFact } from "../model/record.ts";
import type { Action } from "../model/effect.ts";
import type { Observed } from "../model/observation.ts";
import type { Verdict } from "../model/plans.ts";

/** The verdict whose new journal entries say which rule took them and what releases the state they lead to. */
export function signed(verdict: Verdict, rule: string, seen: Observed): Verdict {
  if (!verdict.actions.some((action) => action.kind === "WriteRecord")) return verdict;
  const before = new Set(seen.record.kind === "present" ? seen.record.value.facts.decisions : []);
  const releasedBy = releaseOf(verdict);
  const sign = (decision: DecisionFact): DecisionFact => (before.has(decision) ? decision : { rule, releasedBy, ...decision });
  return {
    ...verdict,
    actions: verdict.actions.map((action): Action =>
      action.kind === "WriteRecord" ? { ...action, facts: { ...action.facts, decisions: action.facts.decisions.map(sign) } } : action,
    ),
  };
}

function releaseOf({ waiting }: Verdict): string {
  const reasons: ConditionEntry["reasons"] = conditionCatalogue.Ready.reasons;
  const next = waiting === undefined ? undefined : reasons[waiting.reason]?.next;
  return next === undefined || next === "-" ? "Nothing to do; it continues by itself." : next;
}
