import type { KubeObject } from "@talos-operator/kube-runtime";
import type { ObjectName } from "../model/effect.ts";
import type { Observed } from "../model/observation.ts";

/** The object is the one that the decision was made on; one that was not seen at all is what was decided about by its name. */
export function isSeen(kind: ObjectName["kind"], { metadata }: KubeObject, seen: Observed): boolean {
  const known: readonly KubeObject[] = {
    TalosControlPlane: [seen.controlPlane],
    TalosWorker: seen.workers,
    TalosMachine: seen.machineObjects,
  }[kind];
  const before = known.find((one) => one.metadata?.name === metadata?.name);
  return before === undefined || before.metadata?.uid === metadata?.uid;
}
