import { snapshotBefore } from "../../disruption/snapshot-before-risk.ts";
import { intentOn } from "../../record/facts.ts";
import { leaversOf } from "./removal.ts";
import type { Leaver } from "./removal.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { BeforeRisk } from "../../model/plans.ts";
import type { ClusterFacts } from "../../model/record.ts";

/**
 * What of a snapshot is the case before control planes leave that run and have a vote, all of them at once and until they are wiped; `undefined` = none does. Dead ones are no part of it:
 * their members are removed whatever becomes of a snapshot. A cluster that is deleted takes none.
 */
export function beforeRemovals(assessed: Assessment, facts: ClusterFacts): BeforeRisk | undefined {
  const { seen } = assessed;
  if (seen.former.length === 0 || seen.controlPlane.metadata.deletionTimestamp !== undefined || facts.bootstrapDone === undefined)
    return undefined;
  const view = assessed.etcdMembership;
  const isAtRisk = ({ machine: { look }, fact }: Leaver): boolean => {
    if (intentOn(facts, fact.name)?.what === "Reset") return true;
    return look.kind === "running" && view.kind === "known" && view.voters.some(({ id }) => id === look.etcd?.localMember);
  };
  const voters = leaversOf(seen, facts, "controlplane").filter(isAtRisk);
  return voters.length === 0
    ? undefined
    : snapshotBefore(
        seen,
        facts,
        voters.map(({ fact }) => fact.name),
      );
}
