import { machineFact, withMachine } from "../../record/facts.ts";
import { forgottenObjects } from "./forgotten-objects.ts";
import type { Action } from "../../model/effect.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { Rule } from "../../model/decision.ts";
import type { ClusterFacts } from "../../model/record.ts";
import type { Verdict } from "../../model/plans.ts";
import type { Assessment } from "../../model/assessment.ts";

/**
 * Takes machines out of a cluster that stays: what the record knows and no spec lists any more.
 *
 * What it waits for stands in the condition `Removing`; the rule ends a pass only when there is something to do, so that the rest of the cluster goes on.
 */
export const changeMembership: Rule = {
  name: "changeMembership",
  decide(assessed) {
    const { seen } = assessed;
    if (seen.record.kind !== "present") return undefined;
    const { facts, resourceVersion } = seen.record.value;
    const plan = assessed.leaving;
    if (plan === undefined) return undefined;
    const actions: readonly Action[] = [
      ...(plan.facts === facts
        ? []
        : [{ kind: "WriteRecord", ifResourceVersion: resourceVersion, facts: plan.facts, why: "Membership" } as const]),
      ...plan.actions,
    ];
    if (actions.length === 0) return forgetObjects(seen, facts);
    return { actions };
  },
};

/** Lets the TalosMachines go that stand for no machine of the cluster any more. */
function forgetObjects(seen: Observed, facts: ClusterFacts): Verdict | undefined {
  const actions = forgottenObjects(seen, facts).flatMap(({ metadata: { name }, spec }): readonly Action[] => {
    const pool = spec?.workerRef?.name;
    const worker = seen.workers.find((one) => one.metadata.name === pool);
    // What goes with its pool is the deletion's; what an unsound spec leaves out may be listed again in a moment.
    if (pool !== undefined && (worker === undefined || worker.metadata.deletionTimestamp !== undefined)) return [];
    if (pool !== undefined && seen.unsoundPools?.includes(pool) === true) return [];
    return [{ kind: "DeleteMachine", name }];
  });
  return actions.length === 0 ? undefined : { actions };
}

/**
 * Writes down which member of etcd each control plane shows, once all of them agree: a machine that dies later does not tell any more.
 */
export const rememberMembers: Rule = {
  name: "rememberMembers",
  decide(assessed) {
    const { seen } = assessed;
    if (seen.record.kind !== "present") return undefined;
    const { facts, resourceVersion } = seen.record.value;
    const next = withMembers(facts, assessed);
    if (next === facts) return undefined;
    return { actions: [{ kind: "WriteRecord", ifResourceVersion: resourceVersion, facts: next, why: "MembersKnown" }] };
  },
};

/** The facts with the members that the control planes show, once all of them agree; the same object when there is nothing new. */
export function withMembers(facts: ClusterFacts, assessed: Assessment): ClusterFacts {
  const { seen } = assessed;
  if (facts.bootstrapDone === undefined) return facts;
  const isNews = ({ declared, look }: SeenMachine): boolean =>
    look.kind === "running" &&
    (look.etcd?.localMember ?? "none") !== "none" &&
    look.etcd?.localMember !== machineFact(facts, declared.name)?.memberId;
  if (!seen.machines.some(isNews)) return facts;
  const view = assessed.etcd;
  if (view.kind === "unsafe" || view.healthy < view.voters.length) return facts;
  const next = view.voters.reduce((known, { id, machine }) => {
    const fact = machine === undefined ? undefined : machineFact(known, machine);
    return fact === undefined || fact.memberId === id ? known : withMachine(known, { ...fact, memberId: id });
  }, facts);
  // During creation members come one after another: one write for all of them.
  const isComplete = seen.machines.every(
    ({ declared, look }) =>
      declared.role !== "controlplane" || look.kind !== "running" || machineFact(next, declared.name)?.memberId !== undefined,
  );
  return isComplete ? next : facts;
}
