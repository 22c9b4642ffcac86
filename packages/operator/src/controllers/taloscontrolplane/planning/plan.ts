import { createHash } from "node:crypto";
import type { MachineName, Waiting } from "../model.ts";

/**
 * What a step changes: `stored` writes objects of the management cluster only; `waits` is for a fact that nobody here can bring about; `installs`,
 * `bootstraps etcd`, `membership`, `reboot` and `destroys data` are sent to machines, and so are `live`, `service restart` and `reinstall`, by the words of
 * config changes; `drains` empties a node of the workload cluster.
 */
export type PlannedEffect =
  | "stored"
  | "waits"
  | "live"
  | "service restart"
  | "drains"
  | "installs"
  | "bootstraps etcd"
  | "membership"
  | "reboot"
  | "reinstall"
  | "destroys data";

/** One step of a plan: what would be done, to which machines. */
export interface PlanStep {
  readonly effect: PlannedEffect;
  /** Name of the action, or `Wait`. */
  readonly action: string;
  readonly machines: readonly MachineName[];
  /** One sentence for people. */
  readonly says: string;
  /** etcd at that moment, for steps that touch a control plane of a bootstrapped cluster; absent where it does not matter. */
  readonly quorum?: string;
}

/** Everything that would be done, in order, as far as it can be foreseen. */
export interface Plan {
  readonly steps: readonly PlanStep[];
  /** What stands in the way after the last step; `undefined` = the cluster would be as asked for. */
  readonly waiting: Waiting | undefined;
  /** False when the last step's outcome cannot be foreseen, or the plan is longer than anybody reads. */
  readonly isWhole: boolean;
  /** What the spec asks for and no step brings, as a sentence: another version. Absent where there is nothing of the kind. */
  readonly pending?: string;
  /** Ten hex digits that stand for the steps: two plans with one hash do the same. */
  readonly hash: string;
}

/** Stands for the steps; what a wait says of machines right now is no part of it. */
export function hashOfSteps(steps: readonly PlanStep[]): string {
  return createHash("sha256")
    .update(JSON.stringify(steps.map(({ effect, action, machines, says }) => [effect, action, machines, action === "Wait" ? "" : says])))
    .digest("hex")
    .slice(0, 10);
}
