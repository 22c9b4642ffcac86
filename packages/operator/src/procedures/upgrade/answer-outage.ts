import { annotations } from "@talos-operator/api";
import { outageWord } from "../../disruption/approved-outage.ts";
import { isSameVersion } from "../../effects/demand-talos.ts";
import { mayHoldConfig } from "../../record/facts.ts";
import { upgradeIntents } from "../../record/upgrades.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { Action } from "../../model/effect.ts";
import type { ClusterFacts } from "../../model/record.ts";

/** Takes the word for an outage off once every control plane that is to run the Talos that it names does and nothing of that is open: the next upgrade asks for one of its own. */
export function outageOver({ seen, machines }: Assessment, facts: ClusterFacts): Action | undefined {
  const named = machines.filter(({ declared: { role, name } }) => role === "controlplane" && outageWord(seen, name).kind === "approved");
  if (named.length === 0 || upgradeIntents(facts).some(({ role }) => role === "controlplane")) return undefined;
  // One that never joined has nothing to be done to it.
  const isDone = named.every(
    ({ declared: { version }, look, fact, isMember }) =>
      !(isMember || mayHoldConfig(fact)) ||
      (fact?.installed === undefined && look.kind === "running" && look.version !== undefined && isSameVersion(look.version, version)),
  );
  if (!isDone) return undefined;
  const value = seen.controlPlane.metadata.annotations?.[annotations.approveOutage] ?? "";
  const answer = `Every control plane that is to run Talos ${value} does, whose outage ${annotations.approveOutage} approved; the annotation acts for one version and is removed.`;
  return { kind: "AnswerAnnotation", annotation: annotations.approveOutage, value, answer };
}
