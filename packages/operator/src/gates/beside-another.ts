import { conditionFor } from "@talos-operator/api";
import type { Rule } from "../model/decision.ts";

/** How often it is looked whether the other one is gone. */
const LOOK_AGAIN_MS = 30_000;

/** Two operators on one cluster undo each other's work, or worse: while another one is seen at work, nothing is done. */
export const refuseBesideAnother: Rule = {
  name: "refuseBesideAnother",
  decide(assessed) {
    const { seen } = assessed;
    if (seen.beside === undefined) return undefined;
    const message = `Another operator is at work on this cluster: ${seen.beside}. Nothing is done until it is stopped: scale its Deployment to 0 and wait until ten minutes have passed since its last write.`;
    return {
      actions: [],
      waiting: { reason: "AnotherOperatorActive", message },
      conditions: [conditionFor("AnotherOperatorActive", "Seen", message, seen.controlPlane.metadata.generation)],
      requeueAfterMs: LOOK_AGAIN_MS,
    };
  },
};
