import { conditionFor, snapshotPolicyOf } from "@talos-operator/api";
import type { ConditionInput } from "@talos-operator/api";
import { unknownWord } from "../disruption/snapshot-before-risk.ts";
import type { Assessment } from "../model/assessment.ts";

/** The condition `SnapshotBeforeRisk`, while control planes that run leave or get another Talos; a word that is none is told at any time. */
export function riskConditions({ seen, beforeRisk, beforeUpgrade }: Assessment): readonly ConditionInput[] {
  const { generation } = seen.controlPlane.metadata;
  const risk = beforeRisk ?? beforeUpgrade;
  if (risk !== undefined) return [conditionFor("SnapshotBeforeRisk", risk.reason, risk.message, generation)];
  const { unknown } = snapshotPolicyOf(seen.riskWord);
  return unknown === undefined ? [] : [conditionFor("SnapshotBeforeRisk", "WordUnknown", unknownWord(unknown), generation)];
}
