import { conditionFor, findingsMessage, releaseOf } from "@talos-operator/api";
import type { ConditionInput, Finding } from "@talos-operator/api";
import { factsOf } from "../record/facts.ts";
import type { Observed } from "../model/observation.ts";

/** The newest spec of a cluster that runs has something wrong in it: nothing of it is carried out, and the cluster is as ready as what runs. */
export function isEditRefused(seen: Observed): boolean {
  const isGoing = seen.controlPlane.metadata.deletionTimestamp !== undefined;
  return isForAuthor(seen.problems) && !isGoing && factsOf(seen)?.bootstrapDone !== undefined;
}

/** Something is wrong, and only whoever wrote the spec can correct it: a ConfigMap that was deleted, say, is no edit. */
export function isForAuthor(findings: readonly Finding[]): boolean {
  return findings.length > 0 && findings.every(({ reason }) => releaseOf({ type: "Ready", reason }) === "person");
}

/** The condition `EditRefused` of a control plane. */
export function editRefused(seen: Observed): readonly ConditionInput[] {
  return isEditRefused(seen) ? [refusalOf(seen.problems, seen.controlPlane.metadata.generation)] : [];
}

/** `EditRefused` by what is wrong with a spec. @param findings at least one */
export function refusalOf(findings: readonly Finding[], generation: number | undefined): ConditionInput {
  const isFixed = findings.every(({ reason }) => reason === "ClusterMismatch");
  return conditionFor("EditRefused", isFixed ? "FixedProperty" : "SpecInvalid", findingsMessage(findings, 3), generation);
}

/** `Progressing` beside it. */
export function blockedByEdit(generation: number | undefined): ConditionInput {
  return conditionFor("Progressing", "Blocked", "See the condition EditRefused.", generation);
}
