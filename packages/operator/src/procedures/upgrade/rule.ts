import { servedApproval } from "./served-approvals.ts";
import { lifted } from "./quarantine.ts";
import type { Rule } from "../../model/decision.ts";
import type { Action } from "../../model/effect.ts";

/** While a step is under way a machine shows its end in the next look. */
const SOON_MS = 2_000;

/** Brings another Talos onto the machines of a cluster, a hop of the plan at a time. */
export const upgradeTalos: Rule = {
  name: "upgradeTalos",
  decide(assessed) {
    const { seen, facts, upgrade } = assessed;
    if (seen.record.kind !== "present" || facts === undefined || upgrade === undefined) return undefined;
    const { resourceVersion } = seen.record.value;
    const write = (next: typeof facts, why: string): Action => ({
      kind: "WriteRecord",
      ifResourceVersion: resourceVersion,
      facts: next,
      why,
    });
    const lift = lifted(assessed, facts);
    if (lift !== undefined && lift.facts !== facts) return { actions: [write(lift.facts, "QuarantineLifted"), lift.answer] };
    const answer = lift?.answer ?? servedApproval(assessed, facts);
    const steps = [...(upgrade.facts === facts ? [] : [write(upgrade.facts, "UpgradeStep")]), ...upgrade.actions];
    // An annotation that cannot be taken off holds up nothing.
    const actions = [...steps, ...(answer === undefined ? [] : [answer])];
    if (actions.length === 0) return undefined;
    return steps.length === 0 ? { actions } : { actions, requeueAfterMs: SOON_MS };
  },
};
