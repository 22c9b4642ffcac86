import { conditionFor, snapshotPolicyOf } from "@talos-operator/api";
import type { ConditionInput } from "@talos-operator/api";
import { unknownWord } from "../disruption/snapshot-before-risk.ts";
import type { Assessment } from "../model/assessment.ts";

/** The condition `SnapshotBeforeRisk`, while control planes that run leave; a word that is none is told at any time. */
export function riskConditions({ seen, beforeRisk }: Assessment): readonly ConditionInput[] {
  const { generation } = seen.controlPlane.metadata;
  if (beforeRisk !== undefined) return [conditionFor("SnapshotBeforeRisk", beforeRisk.reason, beforeRisk.message, generation)];
  const { unknown } = snapshotPolicyOf(seen.riskWord);
  return unknown === undefined ? [] : [conditionFor("SnapshotBeforeRisk", "WordUnknown", unknownWord(unknown), generation)];
}
