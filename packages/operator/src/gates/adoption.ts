import { annotations, conditionFor } from "@talos-operator/api";
import { factsOf, withDecisions } from "../record/facts.ts";
import type { Observed } from "../model/observation.ts";
import type { Verdict } from "../model/plans.ts";

/** True when the record was made for another object of this name: what it tells of is a cluster that nobody said is this one. */
export function isOfAnother(seen: Observed): boolean {
  const facts = factsOf(seen);
  return facts !== undefined && facts.controlPlaneUid !== seen.controlPlane.metadata.uid;
}

/** Takes the cluster over that the record tells of when a person says that it is this one, else waits for that word. */
export function adopt(seen: Observed): Verdict | undefined {
  if (seen.record.kind !== "present" || !isOfAnother(seen)) return undefined;
  const { facts, resourceVersion } = seen.record.value;
  const { uid = "", annotations: words, generation } = seen.controlPlane.metadata;
  if (words?.[annotations.adopt] === facts.clusterId)
    return {
      actions: [
        {
          kind: "WriteRecord",
          ifResourceVersion: resourceVersion,
          facts: withDecisions(
            { ...facts, controlPlaneUid: uid },
            { at: seen.now, action: "Adopt", reason: "AnnotationAdopt", message: `Taken over by the object with UID ${uid}.` },
          ),
          why: "Adopted",
        },
      ],
    };
  const message = `A cluster with this name and cluster.id ${facts.clusterId} exists, and its record belongs to another object. Annotate the TalosControlPlane with ${annotations.adopt}: ${facts.clusterId} if this is the same cluster, or use another name.${deletionWords(seen)}`;
  return {
    actions: [],
    waiting: { reason: "AdoptionRequired", message },
    conditions: [conditionFor("AdoptionRequired", "ControlPlaneReplaced", message, generation)],
  };
}

/** What goes, and would be wiped if it were this cluster's. */
function deletionWords({ controlPlane, workers }: Observed): string {
  const going = [controlPlane, ...workers].filter(
    ({ metadata, spec }) => metadata.deletionTimestamp !== undefined && spec?.deletionPolicy !== "preserve",
  );
  if (going.length === 0) return "";
  const names = going.map(({ kind, metadata }) => `${kind} ${metadata.name}`).join(", ");
  return ` Deleted, and waiting for that word, as its machines would be wiped: ${names}. Set deletionPolicy to preserve there to let the object go and leave that cluster as it is.`;
}
