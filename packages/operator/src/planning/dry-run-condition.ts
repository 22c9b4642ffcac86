import { conditionFor } from "@talos-operator/api";
import type { ConditionInput } from "@talos-operator/api";
import { printPlan } from "./print-plan.ts";
import type { Plan } from "../model/decision.ts";

/** A plan that was made before the first looks would be told twice. */
export const notLookedYet: ConditionInput = conditionFor("DryRun", "NotLookedYet", "Pending: the machines are being read.");

/** The plan of a dry run as its condition. */
export function dryRunCondition(plan: Plan, more = ""): ConditionInput {
  return conditionFor("DryRun", plan.steps.length === 0 ? "NothingToDo" : "ActionsPlanned", `${printPlan(plan)}${more}`);
}
