import { releaseOf } from "@talos-operator/api";
import type { ConditionInput } from "@talos-operator/api";

/** What goes on with an object, as one word for the column STATUS: a reason of its conditions. `undefined` = they say nothing of it. Pure. */
export function activityOf(conditions: readonly ConditionInput[]): string | undefined {
  const find = (wanted: string): ConditionInput | undefined => conditions.find(({ type }) => type === wanted);
  const [ready, progress] = [find("Ready"), find("Progressing")];
  if (find("Paused") !== undefined) return "Paused";
  if (progress?.status === "True") return progress.reason;
  if (ready !== undefined && ready.status !== "True") return ready.reason;
  const stopped =
    find("Stalled") === undefined ? undefined : conditions.find((one) => one.type !== "Progressing" && releaseOf(one) === "person");
  return stopped?.reason ?? progress?.reason ?? ready?.reason;
}
