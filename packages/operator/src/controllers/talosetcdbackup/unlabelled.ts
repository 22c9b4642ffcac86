import { conditionFor, findCondition } from "@talos-operator/api";
import type { ConditionInput } from "@talos-operator/api";
import { storedCondition } from "./conditions.ts";
import { unlabelledWords } from "./store-keys.ts";
import type { BackupDecision, BackupSeen } from "./model.ts";

/** Adds what is said of Secrets without their label: from what this pass read, else as it was said when they were read last. */
export function withUnlabelled(seen: BackupSeen, decision: BackupDecision): BackupDecision {
  // A status that is left as it is.
  if (decision.conditions.length === 0) return decision;
  const condition = conditionOf(seen);
  if (condition === undefined) return decision;
  const isNew = findCondition(seen.backup.status?.conditions, condition.type)?.status !== "True";
  return {
    ...decision,
    conditions: [...decision.conditions, condition],
    news: isNew ? [...decision.news, { reason: "BackupStoreSecretUnlabelled", note: condition.message }] : decision.news,
  };
}

function conditionOf({ backup, needs }: BackupSeen): ConditionInput | undefined {
  const names = needs.kind === "not-asked" ? undefined : needs.unlabelled;
  if (names === undefined) return storedCondition(backup, "BackupStoreSecretUnlabelled");
  if (names.length === 0) return undefined;
  return conditionFor("BackupStoreSecretUnlabelled", "LabelMissing", unlabelledWords(names), backup.metadata.generation);
}
