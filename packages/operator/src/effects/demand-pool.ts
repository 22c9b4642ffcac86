import { controllerOf } from "@talos-operator/api";
import { EffectError } from "../errors.ts";
import { effectiveMode, isTakenOver } from "../controllers/shared/mode.ts";
import type { LatestWords } from "../controllers/shared/latest.ts";
import type { Observed } from "../model/observation.ts";

/**
 * Asks whether a worker pool still says what the decision was made on: that it is a pool of this cluster, that nobody deleted it, and that it is not paused by
 * itself. A watch may stand still for minutes, and each of these words counts from the first moment.
 *
 * @throws EffectError `MODE_CHANGED`
 */
export async function demandPool(
  name: string,
  latest: Pick<LatestWords, "worker" | "talosCluster">,
  { workers, controlPlane, adoption }: Pick<Observed, "workers" | "controlPlane" | "adoption">,
): Promise<void> {
  const { namespace = "" } = controlPlane.metadata;
  const decided = workers.find(({ metadata }) => metadata.name === name);
  const pool = await latest.worker({ namespace, name });
  if (pool === undefined || decided === undefined || pool.metadata.uid !== decided.metadata.uid)
    throw new EffectError("MODE_CHANGED", `TalosWorker ${name} is gone, or another object by now`);
  // Machines of a pool that goes would be made as fast as they are taken down.
  if (decided.metadata.deletionTimestamp === undefined && pool.metadata.deletionTimestamp !== undefined)
    throw new EffectError("MODE_CHANGED", `TalosWorker ${name} is being deleted`);
  if (pool.spec?.controlPlaneRef?.name !== controlPlane.metadata.name)
    throw new EffectError("MODE_CHANGED", `TalosWorker ${name} refers to another TalosControlPlane by now`);
  const owner = controllerOf(pool.metadata);
  const cluster = owner?.kind === "TalosCluster" ? await latest.talosCluster({ namespace, name: owner.name }) : undefined;
  const mode = effectiveMode(pool.metadata, { get: () => cluster });
  // Until it is taken over the rule of imports alone decides, and guards the pools when it begins.
  const isImported = isTakenOver(controlPlane) || adoption !== undefined;
  if (mode !== "reconcile" && !(mode === "import" && isImported))
    throw new EffectError("MODE_CHANGED", `TalosWorker ${name}, or the TalosCluster that made it, says ${mode}`);
}
