import { finalizers } from "@talos-operator/api";
import type { ConditionInput } from "@talos-operator/api";
import { hashOfSteps } from "../../planning/plan.ts";
import { dryRunCondition, notLookedYet } from "../../planning/dry-run-condition.ts";
import { childrenOf, decideCluster } from "./decide.ts";
import type { ClusterSeen } from "./decide.ts";
import type { Decision, Plan, PlanStep } from "../../model/decision.ts";

/** What the brain found for the children that a cluster would have. */
export interface ForeseenCluster {
  readonly plan: Plan | undefined;
  /** False while machines were not asked yet. */
  readonly hasLooked: boolean;
}

/** What a decision of the brain says of a cluster that is only tried. */
export function foreseenBy(decision: Decision | undefined): ForeseenCluster | undefined {
  if (decision === undefined) return undefined;
  const hasLooked =
    decision.plan !== undefined && !decision.conditions.some(({ type, status }) => type === "DryRun" && status === "Unknown");
  return { plan: decision.plan, hasLooked };
}

/** The plan of a TalosCluster that is only tried: what becomes of its children, then what the brain would do with them. */
export function describeDryRun(seen: ClusterSeen, foreseen: ForeseenCluster | undefined): ConditionInput {
  const isGoing = seen.cluster.metadata.deletionTimestamp !== undefined;
  const stopped = isGoing ? undefined : blockedBy(seen);
  // What the brain would do with children that are not made, or not brought to this spec, is not going to happen.
  if (stopped !== undefined) return dryRunCondition(nothing, `\n${stopped.reason}: ${stopped.message}`);
  const own = ownSteps(seen);
  if (seen.cluster.spec?.controlPlane !== undefined && foreseen?.hasLooked !== true) return notLookedYet;
  const children = seen.cluster.spec?.controlPlane === undefined ? undefined : foreseen?.plan;
  const steps = isGoing ? [...(children?.steps ?? []), ...own] : [...own, ...(children?.steps ?? [])];
  const plan: Plan = {
    steps,
    waiting: children?.waiting,
    isWhole: children?.isWhole ?? true,
    hash: hashOfSteps(steps),
    ...(children?.forecast === undefined ? {} : { forecast: children.forecast }),
    ...(children?.pending === undefined ? {} : { pending: children.pending }),
  };
  return dryRunCondition(plan);
}

const nothing: Plan = { steps: [], waiting: undefined, isWhole: true, hash: hashOfSteps([]) };

/** Why the cluster's own controller would touch none of its children: a spec that cannot be, or a name that is taken. */
function blockedBy(seen: ClusterSeen): ConditionInput | undefined {
  const { controlPlane, worker } = childrenOf(seen.cluster);
  const { apply, conditions } = decideCluster(withFinalizer(seen), finalizers.talosCluster);
  if (apply.length > 0 || (controlPlane ?? worker) === undefined) return undefined;
  // `Ready` speaks of what runs where an edit is refused.
  return conditions.find(({ type }) => type === "EditRefused") ?? conditions.find(({ type }) => type === "Ready");
}

/** What the cluster's own controller would store. */
function ownSteps(seen: ClusterSeen): readonly PlanStep[] {
  const { cluster } = seen;
  const stored = (action: string, says: string): PlanStep => ({ effect: "stored", action, machines: [], says });
  const { name } = cluster.metadata;
  if (cluster.metadata.deletionTimestamp !== undefined)
    return [stored("RemoveFinalizer", `Take the operator's finalizer off TalosCluster/${name}, so that it goes.`)];
  const decision = decideCluster(withFinalizer(seen), finalizers.talosCluster);
  const hasFinalizer = (cluster.metadata.finalizers ?? []).includes(finalizers.talosCluster);
  const changed = decision.apply.flatMap((child) => {
    const existing = child.kind === "TalosControlPlane" ? seen.controlPlane : seen.worker;
    if (existing === undefined) return [stored("Make", `Make ${child.kind}/${child.metadata.name}.`)];
    return JSON.stringify(existing.spec) === JSON.stringify(child.spec)
      ? []
      : [stored("Change", `Bring ${child.kind}/${child.metadata.name} to the spec of the cluster.`)];
  });
  return [
    ...(hasFinalizer || decision.apply.length === 0
      ? []
      : [stored("AddFinalizer", `Put the operator's finalizer on TalosCluster/${name}.`)]),
    ...changed,
    ...decision.remove.map((child) => stored("Delete", `Delete ${child.kind}/${child.name}.`)),
  ];
}

function withFinalizer(seen: ClusterSeen): ClusterSeen {
  const { metadata } = seen.cluster;
  return {
    ...seen,
    cluster: { ...seen.cluster, metadata: { ...metadata, finalizers: [...(metadata.finalizers ?? []), finalizers.talosCluster] } },
  };
}
