import { conditionFor } from "@talos-operator/api";
import type { ConditionInput, RemovalStatus } from "@talos-operator/api";
import { isEditRefused } from "./edit-refused.ts";
import { listed, sentences } from "./listed.ts";
import type { Removal } from "../model/plans.ts";
import type { Assessment } from "../model/assessment.ts";

/** The condition `Removing`, while machines are on their way out of a cluster that stays. */
export function removalConditions(assessed: Assessment): readonly ConditionInput[] {
  const { seen } = assessed;
  const removals = removalsOf(assessed);
  const [first] = removals;
  if (first === undefined) return [];
  const message =
    assessed.keys !== "sound"
      ? `Left the list, and stay as they are until the cluster's keys are back: ${listed(removals.map(({ machine }) => machine))}. See the condition ${assessed.keys === "lost" ? "SecretsLost" : "Ready"}.`
      : removalWords(removals);
  return [conditionFor("Removing", first.reason, message, seen.controlPlane.metadata.generation)];
}

/** What is said of machines that leave, once where it is said of several. */
export function removalWords(removals: readonly Removal[]): string {
  return sentences([...new Set(removals.map(({ message }) => message))]);
}

/** The same as data, for the status; `undefined` = nobody leaves. */
export function removalRows(removals: readonly Removal[]): readonly RemovalStatus[] | undefined {
  return removals.length === 0 ? undefined : removals.map(({ machine, reason }) => ({ machine, reason }));
}

/** What is said of machines that no spec lists any more; those that only a person can help come last. */
export function removalsOf(assessed: Assessment): readonly Removal[] {
  // A spec of which nothing is carried out takes no machine away.
  if (assessed.seen.controlPlane.metadata.deletionTimestamp !== undefined || isEditRefused(assessed.seen)) return [];
  const isLeft = (removal: Removal): number => Number(removal.reason === "MachineUnreachable");
  return (assessed.leaving?.removals ?? []).toSorted((a, b) => isLeft(a) - isLeft(b));
}
