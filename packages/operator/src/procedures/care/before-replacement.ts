import { snapshotBefore } from "../../disruption/snapshot-before-risk.ts";
import { controlPlaneIntent } from "../../record/facts.ts";
import { isMinority, nextOf } from "../../assess/corrupt.ts";
import { isReplacement } from "./plan-replacement.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { BeforeRisk } from "../../model/plans.ts";
import type { ClusterFacts } from "../../model/record.ts";

/** What of a snapshot is the case before a member with wrong data is replaced, and until it is; `undefined` = none is. It is taken from a member that no alarm names. */
export function beforeReplacement({ seen, etcdMembership: view }: Assessment, facts: ClusterFacts): BeforeRisk | undefined {
  if (seen.controlPlane.metadata.deletionTimestamp !== undefined || facts.bootstrapDone === undefined) return undefined;
  const open = controlPlaneIntent(facts);
  const corrupt = view.kind === "unsafe" ? view.corrupt : undefined;
  const next = corrupt !== undefined && isMinority(corrupt) ? nextOf(corrupt)?.machine : undefined;
  const machine = isReplacement(open) ? open.machine : next;
  return machine === undefined ? undefined : snapshotBefore(seen, facts, [machine], false);
}
