import { awaitsNodesOfRun, upgradeTaints } from "../nodes/upgrade-taints.ts";
import { openRun } from "../../record/upgrades.ts";
import { factsOf } from "../../record/facts.ts";
import { policyOf } from "./whom-to-wipe.ts";
import { waits } from "./waits.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { Verdict } from "../../model/plans.ts";

/**
 * Machines that are left running keep no taint of an upgrade that nobody goes on with. A cluster whose API does not answer when it is asked is let go with it, for it
 * keeps no pod from running. `undefined` = there is none, or nobody is left to ask.
 */
export function untaintFirst(assessed: Assessment): Verdict | undefined {
  const { seen } = assessed;
  if (policyOf(seen) !== "preserve" || factsOf(seen)?.bootstrapDone === undefined || seen.nodes === undefined || !seen.mayDisturb)
    return undefined;
  const says = waits("WaitingForChildren", seen, "The taint of upgrades is being taken off the Nodes.");
  const { isAsking } = seen.nodes;
  if (openRun(factsOf(seen)) !== undefined && (isAsking || awaitsNodesOfRun(assessed)))
    return { ...says, actions: isAsking ? [] : [{ kind: "LookAtNodes" }], requeueAfterMs: 1_000 };
  const actions = upgradeTaints(assessed).filter(({ kind }) => kind === "UntaintNodes");
  return actions.length === 0 ? undefined : { ...says, actions, requeueAfterMs: 1_000 };
}
