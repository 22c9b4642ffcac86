import { createHash } from "node:crypto";
import type { PlanStep } from "../model/decision.ts";

/** Stands for the steps; what a wait says of machines right now is no part of it. */
export function hashOfSteps(steps: readonly PlanStep[]): string {
  return createHash("sha256")
    .update(JSON.stringify(steps.map(({ effect, action, machines, says }) => [effect, action, machines, action === "Wait" ? "" : says])))
    .digest("hex")
    .slice(0, 10);
}
