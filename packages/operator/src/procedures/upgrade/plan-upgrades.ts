import { isSameBuild } from "../../effects/demand-talos.ts";
import { upgradeIntents } from "../../record/upgrades.ts";
import { imageFor } from "./image.ts";
import { nextHop } from "./next-hop.ts";
import { withoutRun } from "./run.ts";
import { takeBack } from "./take-back.ts";
import { openWords } from "./open-words.ts";
import { planHop } from "./plan-hop.ts";
import type { NextHop } from "./next-hop.ts";
import type { AssessedMachine, Assessment } from "../../model/assessment.ts";
import type { UpgradeStep } from "../../model/plans.ts";
import type { ClusterFacts } from "../../model/record.ts";

/**
 * What is done next about another Talos: one hop of the plan at a time, control planes one by one, those that follow before the one that leads, then workers as far
 * as the budget of their pool allows. A version that no machine of the role was well with goes to one alone.
 */
export function planUpgrades(assessed: Assessment, facts: ClusterFacts): UpgradeStep {
  const next = nextHop(assessed, facts);
  const open = upgradeIntents(facts);
  const step = (kind: UpgradeStep["kind"], says: string, reason?: UpgradeStep["reason"], after = facts): UpgradeStep => ({
    facts: after,
    actions: [],
    kind,
    says,
    ...(reason === undefined ? {} : { reason }),
  });
  const withdrawn = open.length > 0 ? undefined : withdrawnFrom(assessed, next);
  if (withdrawn !== undefined) return takeBack(assessed, facts, withdrawn);
  if (open.length > 0 && next.kind !== "hop") return step("running", openWords(assessed, open), "Upgrading");
  switch (next.kind) {
    case "none":
      return step("none", "", undefined, withoutRun(assessed, facts));
    case "stopped":
      return step("stopped", next.why, next.isQuarantined ? "VersionFailed" : "VersionDiffers", withoutRun(assessed, facts));
    case "held":
      return step("held", `${next.why}.`, "UpgradeWaits");
    case "hop":
      return planHop(assessed, facts, next.hop);
  }
}

/** A machine with a Talos on it, not booted yet, that the spec does not ask for any more. What failed elsewhere stays where it is: nobody else is touched. */
function withdrawnFrom({ machines }: Assessment, next: NextHop): AssessedMachine | undefined {
  if (next.kind === "held" || (next.kind === "stopped" && next.isQuarantined)) return undefined;
  return machines.find(({ declared, fact }) => {
    const { installed } = fact ?? {};
    if (installed === undefined) return false;
    const asked = imageFor(declared, { version: declared.version });
    // Where the image is not named for the version, the version decides.
    if (isSameBuild(installed, { version: declared.version, ...(asked.kind === "image" ? asked : {}) })) return false;
    const hop = next.kind === "hop" ? next.hop.machines.find((one) => one.name === declared.name) : undefined;
    return hop === undefined || !isSameBuild(hop.to, installed);
  });
}
