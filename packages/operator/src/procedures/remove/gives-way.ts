import { rememberedAs } from "../../effects/define.ts";
import { besideFull } from "../../assess/quorum.ts";
import { forfeitLeadership } from "../../effects/forfeit-leadership.ts";
import { leaveEtcd } from "../../effects/leave-etcd.ts";
import { removeMember } from "../../effects/remove-member.ts";
import { resetMachine } from "../../effects/reset-machine.ts";
import { closed, LATE_MS } from "./removal.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { RemovalStep } from "../../model/plans.ts";
import type { ClusterFacts, IntentFact } from "../../model/record.ts";

/**
 * Lets an open removal of a control plane go that only waits for an alarm of etcd to go: the cure of the alarm waits for the removal to end, and neither would ever
 * happen; the removal of a dead member goes on while files are full, and waits for other alarms. Only when nothing that was sent under it can arrive any more, so that nobody is disturbed beside it; after the cure it is begun anew.
 */
export function orGivenUp(assessed: Assessment, facts: ClusterFacts, intent: IntentFact, step: RemovalStep): RemovalStep {
  const { seen } = assessed;
  const view = intent.what === "RemoveMember" ? besideFull(assessed.etcdMembership) : assessed.etcdMembership;
  const waits = step.facts === facts && step.actions.length === 0;
  if (!waits || view.kind === "known" || view.code !== "alarm" || seen.now < arrivesUntil(assessed, intent)) return step;
  return closed(seen, facts, intent, "GaveWay", `Nothing of it can arrive any more, and etcd is cured first: ${view.message}.`);
}

/** Until when something that was sent under this intent may take effect; the beginning of time when nothing was. Milliseconds since the epoch. */
function arrivesUntil({ seen }: Assessment, { machine, memberId, at, deadline }: IntentFact): number {
  const keys = [
    ...[forfeitLeadership, leaveEtcd, resetMachine].map((effect) => rememberedAs(effect, machine)),
    rememberedAs(removeMember, memberId ?? machine),
  ];
  const own = keys.flatMap((key) => {
    const sent = seen.sent.get(key);
    return sent === undefined || sent.at < at || sent.outcome === "refused" ? [] : [sent.at];
  });
  // Whoever led before this process sent nothing after this one began.
  const sentAt = Math.max(...own, at < seen.watchedSince ? seen.watchedSince : 0);
  return sentAt === 0 ? 0 : Math.max(deadline, sentAt) + LATE_MS;
}
