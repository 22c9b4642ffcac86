import { conditionFor } from "@talos-operator/api";
import type { ReasonOf } from "@talos-operator/api";
import type { Observed } from "../../model/observation.ts";
import type { Verdict } from "../../model/plans.ts";

export function waits(reason: ReasonOf<"Deleting">, seen: Observed, message: string): Verdict {
  return {
    actions: [],
    waiting: { reason: "Deleting", message },
    conditions: [conditionFor("Deleting", reason, message, seen.controlPlane.metadata.generation)],
    requeueAfterMs: 5_000,
  };
}
