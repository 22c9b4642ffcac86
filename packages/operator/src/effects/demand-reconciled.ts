import { annotations, controllerOf, reconcileModeOf } from "@talos-operator/api";
import { EffectError } from "../errors.ts";
import type { LatestWords } from "../controllers/shared/latest.ts";
import { effectiveMode, effectiveUnknownMode } from "../controllers/shared/mode.ts";
import type { Observed } from "../model/observation.ts";

/**
 * Asks whether people still want this cluster to be reconciled: its own annotation, else that of the TalosCluster that made it. Whoever pauses a cluster
 * relies on the word from then on. Objects that are not there say nothing; another object of the same name is another cluster, and nobody decided about it.
 *
 * @throws EffectError `MODE_CHANGED` when the word is another one than the decision was made under, or the object is
 */
export async function demandReconciled(latest: Pick<LatestWords, "talosCluster" | "controlPlane">, seen: Observed): Promise<void> {
  const { metadata } = seen.controlPlane;
  const { namespace = "", name } = metadata;
  const owner = controllerOf(metadata);
  const [controlPlane, cluster] = await Promise.all([
    latest.controlPlane({ namespace, name }),
    owner?.kind === "TalosCluster" ? latest.talosCluster({ namespace, name: owner.name }) : undefined,
  ]);
  if (controlPlane !== undefined && controlPlane.metadata.uid !== metadata.uid)
    throw new EffectError("MODE_CHANGED", `TalosControlPlane ${name} is another object by now`);
  const live = { ...metadata, annotations: controlPlane?.metadata.annotations ?? {} };
  const clusters = { get: () => cluster };
  const mode = effectiveMode(live, clusters);
  const says = reconcileModeOf(live) === "reconcile" ? cluster : controlPlane;
  const word = effectiveUnknownMode(live, clusters);
  // What is imported by its first pass has no record yet; from then on the word import means nothing more.
  const isImport = mode === "import" && seen.record.kind === "absent" && seen.adoption?.isAsked !== true;
  if (mode === "disable" || mode === "dryrun" || isImport)
    throw new EffectError("MODE_CHANGED", `${says?.kind ?? ""} ${says?.metadata.name ?? ""} says ${mode}`);
  // What was to be taken over because somebody asked for it is no matter of theirs any more.
  if (seen.adoption?.isAsked === true && seen.record.kind === "absent" && controlPlane !== undefined && mode !== "import")
    throw new EffectError("MODE_CHANGED", `nobody asks for the import of TalosControlPlane ${name} any more`);
  if (word !== undefined && word !== seen.unknownMode)
    throw new EffectError("MODE_CHANGED", `${annotations.reconcileMode} says ${JSON.stringify(word)}, which is no known value`);
}
