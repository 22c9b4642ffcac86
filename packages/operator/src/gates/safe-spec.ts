import { findingsMessage } from "@talos-operator/api";
import { keepAccess } from "../procedures/access/rule.ts";
import { isEditRefused } from "../report/edit-refused.ts";
import { keepKeys } from "./keep-keys.ts";
import { tendNodes } from "../procedures/nodes/rule.ts";
import type { Action } from "../model/effect.ts";
import type { Rule } from "../model/decision.ts";
import type { Assessment } from "../model/assessment.ts";

/** A spec that cannot become a cluster, or that asks for something not built: said with field and remedy, and nothing that leans on it is done. */
export const refuseUnsafeSpec: Rule = {
  name: "refuseUnsafeSpec",
  decide(assessed) {
    const { seen } = assessed;
    const [first] = seen.problems;
    if (first === undefined) return undefined;
    const ofEdit = isEditRefused(seen) ? ({ ofEdit: true } as const) : {};
    return { actions: whatGoesOn(assessed), waiting: { reason: first.reason, message: findingsMessage(seen.problems), ...ofEdit } };
  },
};

/** What a cluster is kept by while nothing else is done, for months if need be: people keep their access, and Nodes whose machines are back do not stay cordoned. */
export function whatGoesOn(assessed: Assessment): readonly Action[] {
  const { seen } = assessed;
  if (seen.record.kind !== "present" || keepKeys.decide(assessed) !== undefined) return [];
  return (tendNodes.decide(assessed) ?? keepAccess.decide(assessed))?.actions ?? [];
}
