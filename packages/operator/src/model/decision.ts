import type { ConditionInput, ControlPlaneState, RemovalStatus, UpgradeStatus } from "@talos-operator/api";
import type { MachineName } from "./machine.ts";
import type { Assessment } from "./assessment.ts";
import type { Action, PlannedEffect } from "./effect.ts";
import type { Verdict, Waiting } from "./plans.ts";

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
  /** What is to be expected of an upgrade of Talos that is in it, as sentences. */
  readonly forecast?: string;
  /** What the spec asks for and no step brings, as a sentence: another version. Absent where there is nothing of the kind. */
  readonly pending?: string;
  /** Ten hex digits that stand for the steps: two plans with one hash do the same. */
  readonly hash: string;
}

/** One rule of the brain, named for its purpose. `undefined` = nothing to say, ask the next. */
export interface Rule {
  readonly name: string;
  decide(assessed: Assessment): Verdict | undefined;
}

/** A rule that no pass may break, and that this one would have broken: a fault of the operator. */
export interface BrokenInvariant {
  /** As `S11`. */
  readonly id: string;
  /** What always holds, as a sentence. */
  readonly says: string;
  /** What would have been done, with names and without a full stop. */
  readonly detail: string;
}

/** What one pass does and says. */
export interface Decision {
  /** The rule that decided. */
  readonly rule: string;
  /** In order; at most one of them disturbs a control plane. */
  readonly actions: readonly Action[];
  /** From what was seen now, never from an earlier pass. Types that are absent here are removed from the status. */
  readonly conditions: readonly ConditionInput[];
  /** Machines that leave; absent = nobody does. */
  readonly removals?: readonly RemovalStatus[] | undefined;
  /** How far the control planes are on their way to another Talos; absent = they are on none. */
  readonly upgrade?: UpgradeStatus | undefined;
  /** Who leads etcd, or led it when that was last seen; absent = nobody that is listed. */
  readonly etcdLeader?: MachineName | undefined;
  readonly state: ControlPlaneState;
  readonly requeueAfterMs: number | undefined;
  /** The cluster is as its spec asks: if it is not ready, then for its endpoint alone, about which there is nothing to do here. */
  readonly isMet?: boolean;
  /** An effect on a running machine is open: machines are looked at often although the cluster is ready. */
  readonly isBusy?: boolean;
  /** Nothing of what the rule decided is done, for it would have broken this. */
  readonly broken?: BrokenInvariant;
  /** Of a dry run. */
  readonly plan?: Plan;
}
