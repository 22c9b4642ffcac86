import { snapshotBefore } from "../../disruption/snapshot-before-risk.ts";
import { nextHop } from "./next-hop.ts";
import type { Assessment } from "../../model/assessment.ts";
import type { BeforeRisk } from "../../model/plans.ts";
import type { ClusterFacts } from "../../model/record.ts";

/** What of a snapshot is the case before control planes get another Talos: one for all of them, as long as it counts; `undefined` = none does. */
export function beforeUpgrades(assessed: Assessment, facts: ClusterFacts): BeforeRisk | undefined {
  const { seen } = assessed;
  if (facts.bootstrapDone === undefined || seen.controlPlane.metadata.deletionTimestamp !== undefined) return undefined;
  const hop = nextHop(assessed, facts);
  if (hop.kind !== "hop" || hop.hop.role !== "controlplane") return undefined;
  const machines = hop.hop.machines.map(({ name }) => name);
  return machines.length === 0 ? undefined : snapshotBefore(seen, facts, machines, true, "upgrade");
}
