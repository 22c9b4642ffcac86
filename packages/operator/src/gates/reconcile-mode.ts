import { pausedCondition } from "../controllers/shared/mode.ts";
import type { Rule } from "../model/decision.ts";

/** A paused cluster: no write but the condition `Paused`, no effect, not even the finalizer of a deletion. */
export const honourReconcileMode: Rule = {
  name: "honourReconcileMode",
  decide(assessed) {
    const { seen } = assessed;
    if (seen.mode === "reconcile") return undefined;
    const paused = pausedCondition(seen.mode);
    return { actions: [], waiting: { reason: "Paused", message: paused.message }, conditions: [paused] };
  },
};
