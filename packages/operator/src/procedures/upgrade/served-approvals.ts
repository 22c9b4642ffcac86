import { annotations } from "@talos-operator/api";
import { compareVersions, tryParseVersion } from "@talos-operator/talos";
import { outageWord } from "../../disruption/approved-outage.ts";
import { isSameVersion } from "../../effects/demand-talos.ts";
import { mayHoldConfig } from "../../record/facts.ts";
import { upgradeIntents } from "../../record/upgrades.ts";
import type { AssessedMachine, Assessment } from "../../model/assessment.ts";
import type { Action } from "../../model/effect.ts";
import type { ClusterFacts } from "../../model/record.ts";

/** Takes off what a person approved for one version once every machine that it is about runs that: a later edit asks anew. `undefined` = nothing has served. */
export function servedApproval(assessed: Assessment, facts: ClusterFacts): Action | undefined {
  return outageOver(assessed, facts) ?? downgradeOver(assessed, facts);
}

function outageOver({ seen, machines }: Assessment, facts: ClusterFacts): Action | undefined {
  const named = machines.filter(({ declared: { role, name } }) => role === "controlplane" && outageWord(seen, name).kind === "approved");
  if (!haveArrived(named) || upgradeIntents(facts).some(({ role }) => role === "controlplane")) return undefined;
  const value = seen.controlPlane.metadata.annotations?.[annotations.approveOutage] ?? "";
  const answer = `Every control plane that is to run Talos ${value} runs it. The annotation ${annotations.approveOutage} acts for one version and is removed.`;
  return { kind: "AnswerAnnotation", annotation: annotations.approveOutage, value, answer };
}

/** One that is written before its version is asked for stays: no machine is to run that yet, or one runs a newer version from which it may be meant to go back. */
function downgradeOver({ seen, machines }: Assessment, facts: ClusterFacts): Action | undefined {
  const value = seen.controlPlane.metadata.annotations?.[annotations.allowDowngrade];
  if (value === undefined) return undefined;
  const named = machines.filter(({ declared: { version } }) => isSameVersion(version, value));
  if (!haveArrived(named) || upgradeIntents(facts).length > 0 || machines.some((machine) => runsNewer(machine, value))) return undefined;
  const answer = `Every machine that is to run Talos ${value} does, which ${annotations.allowDowngrade} allowed; the annotation acts for one downgrade and is removed.`;
  return { kind: "AnswerAnnotation", annotation: annotations.allowDowngrade, value, answer };
}

/** There are some, and all run what is asked for on them, and have nothing else installed. One that never joined has nothing to be done to it. */
function haveArrived(named: readonly AssessedMachine[]): boolean {
  return (
    named.length > 0 &&
    named.every(
      ({ declared: { version }, look, fact, isMember }) =>
        !(isMember || mayHoldConfig(fact)) ||
        (fact?.installed === undefined && look.kind === "running" && look.version !== undefined && isSameVersion(look.version, version)),
    )
  );
}

function runsNewer({ look }: AssessedMachine, version: string): boolean {
  const runs = look.kind === "running" ? look.version : undefined;
  return runs !== undefined && tryParseVersion(runs) !== undefined && compareVersions(runs, version) > 0;
}
