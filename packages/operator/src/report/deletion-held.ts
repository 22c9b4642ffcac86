import { finalizers } from "@talos-operator/api";
import type { ReasonOf } from "@talos-operator/api";
import type { Observed } from "../model/observation.ts";
import type { Said } from "../model/plans.ts";

/** Why record or keys stay although somebody deleted them, and what to do; `undefined` = nobody did, or the cluster goes and they with it. */
export function deletionHeld({ controlPlane, record, bundle }: Observed): Said<ReasonOf<"DeletionHeld">> | undefined {
  const { name, deletionTimestamp } = controlPlane.metadata;
  if (record.kind !== "present" || deletionTimestamp !== undefined) return undefined;
  const since = record.value.metadata.deletionTimestamp;
  const isBundleGoing = bundle.kind === "present" && bundle.value.isDeleting;
  const { secretName } = record.value.facts.bundle;
  const held = [
    ...(since === undefined ? [] : [{ what: `the ClusterRecord ${name}, at ${since}`, finalizer: finalizers.clusterRecord }]),
    ...(isBundleGoing ? [{ what: `the Secret ${secretName}`, finalizer: finalizers.bundle }] : []),
  ];
  if (held.length === 0) return undefined;
  const is = held.length === 1 ? "It is" : "They are";
  return {
    reason: since === undefined ? "BundleDeleted" : "RecordDeleted",
    message:
      `Somebody deleted ${held.map(({ what }) => what).join(", and ")}. ${is} held by ${held.map(({ finalizer }) => finalizer).join(" and ")} and used as before, ` +
      `for what is in there cannot be made again, and goes when TalosControlPlane/${name} is deleted. Leave the finalizer on. To take the deletion back see docs/runbooks/record-deleted.md.`,
  };
}
