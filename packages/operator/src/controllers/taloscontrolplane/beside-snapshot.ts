import { controlPlaneIntent, factsOf, snapshotStands } from "./record/facts.ts";
import type { Action } from "../../model/effect.ts";
import type { Observed } from "../../model/observation.ts";
import type { Verdict } from "../../model/plans.ts";

/** How often it is looked whether a snapshot is over, at least; its end wakes the cluster. Milliseconds. */
const SNAPSHOT_LOOK_MS = 10_000;

/**
 * The verdict without what would begin to disturb a control plane while a snapshot is being taken: it waits, for no longer than the snapshot may take. Nothing
 * else is done in its place, for less urgent rules count on what this one holds back.
 */
export function besideSnapshot(verdict: Verdict | undefined, seen: Observed): Verdict | undefined {
  const facts = factsOf(seen);
  if (verdict === undefined || !snapshotStands(facts, seen.now) || !verdict.actions.some((action) => opensOnControlPlane(action, seen)))
    return verdict;
  const { machine, backup, deadline } = facts.snapshot;
  const words = `It waits for a snapshot: ${backup} is being taken from ${machine}, until ${new Date(deadline).toISOString()} at the latest.`;
  const requeueAfterMs = Math.min(deadline - seen.now, SNAPSHOT_LOOK_MS);
  return {
    ...verdict,
    actions: [],
    ...(verdict.waiting === undefined ? {} : { waiting: { ...verdict.waiting, message: `${verdict.waiting.message} ${words}` } }),
    requeueAfterMs,
  };
}

function opensOnControlPlane(action: Action, seen: Observed): boolean {
  if (action.kind !== "WriteRecord") return false;
  const opened = controlPlaneIntent(action.facts);
  return opened !== undefined && controlPlaneIntent(factsOf(seen))?.machine !== opened.machine;
}
