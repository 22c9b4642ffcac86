import { annotations } from "@talos-operator/api";
import { outageWord } from "../../disruption/approved-outage.ts";
import { isSameVersion } from "../../effects/demand-talos.ts";
import { mayHoldConfig } from "../../record/facts.ts";
import { upgradeIntents } from "../../record/upgrades.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { Action } from "../../model/effect.ts";
import type { ClusterFacts } from "../../model/record.ts";

/** Takes the word for an outage off once every control plane runs the Talos that it names and nothing of that is open: the next upgrade asks for one of its own. */
export function outageOver({ seen, machines }: Assessment, facts: ClusterFacts): Action | undefined {
  const word = outageWord(seen);
  if (word.kind !== "approved" || upgradeIntents(facts).some(({ role }) => role === "controlplane")) return undefined;
  // One that never joined has nothing to be done to it.
  const isDone = machines.every(
    ({ declared: { role, version }, look, fact, isMember }) =>
      role !== "controlplane" ||
      !(isMember || mayHoldConfig(fact)) ||
      (fact?.installed === undefined && look.kind === "running" && look.version !== undefined && isSameVersion(look.version, version)),
  );
  if (!isDone) return undefined;
  const answer = `Every control plane runs Talos ${word.value}, whose outage ${annotations.approveOutage} approved; the annotation acts for one version and is removed.`;
  return { kind: "AnswerAnnotation", annotation: annotations.approveOutage, value: word.value, answer };
}
