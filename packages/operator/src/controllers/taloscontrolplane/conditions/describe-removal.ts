import { conditionFor } from "@talos-operator/api";
import type { ConditionInput } from "@talos-operator/api";
import { areKeysInDoubt, areKeysLost } from "./keys-in-doubt.ts";
import { planMembership } from "../membership/plan-membership.ts";
import type { Removal } from "../membership/removal.ts";
import { factsOf } from "../record/facts.ts";
import type { Observed } from "../../../model/observation.ts";

/** The condition `Removing`, while machines are on their way out of a cluster that stays. */
export function removalConditions(seen: Observed): readonly ConditionInput[] {
  const removals = removalsOf(seen);
  const [first] = removals;
  if (first === undefined) return [];
  const message = areKeysInDoubt(seen)
    ? `Left the list, and stay as they are until the cluster's keys are back: ${removals.map(({ machine }) => machine).join(", ")}. See the condition ${areKeysLost(seen) ? "SecretsLost" : "Ready"}.`
    : removals.map((removal) => removal.message).join(" ");
  return [conditionFor("Removing", first.reason, message, seen.controlPlane.metadata.generation)];
}

/** What is said of machines that no spec lists any more; those that only a person can help come last. */
export function removalsOf(seen: Observed): readonly Removal[] {
  const facts = factsOf(seen);
  if (facts === undefined || seen.controlPlane.metadata.deletionTimestamp !== undefined) return [];
  const isLeft = (removal: Removal): number => Number(removal.reason === "MachineUnreachable");
  return planMembership(seen, facts).removals.toSorted((a, b) => isLeft(a) - isLeft(b));
}
