import { controllerOf } from "@talos-operator/api";
import type { KubernetesCluster, ObjectMeta, TalosCluster, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { EffectError } from "../errors.ts";
import { isBeingOrphaned } from "../controllers/shared/delete-owned.ts";
import type { LatestWords } from "../controllers/shared/latest.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed } from "../model/observation.ts";

type Keeper = TalosControlPlane | TalosWorker | TalosCluster | KubernetesCluster;

/**
 * Asks whether everything that a machine would be configured for stays: its control plane, its pool, and the cluster that made the control plane. What is being
 * deleted gets nothing more, from the first moment on: a cache may be behind, and the machine would only be wiped again.
 *
 * @throws EffectError `MODE_CHANGED`
 */
export async function demandKept(machine: MachineName, latest: LatestWords, seen: Observed): Promise<void> {
  const { metadata } = seen.controlPlane;
  const { namespace = "", name } = metadata;
  const pool = seen.machines.find(({ declared }) => declared.name === machine)?.declared.owner;
  const owner = controllerOf(metadata);
  const maker = owner === undefined ? undefined : { namespace, name: owner.name };
  const keepers: readonly (Keeper | undefined)[] = await Promise.all([
    latest.controlPlane({ namespace, name }),
    pool?.kind === "TalosWorker" ? latest.worker({ namespace, name: pool.name }) : undefined,
    maker !== undefined && owner?.kind === "TalosCluster" ? latest.talosCluster(maker) : undefined,
    maker !== undefined && owner?.kind === "KubernetesCluster" ? latest.kubernetesCluster(maker) : undefined,
  ]);
  const going = keepers.find((keeper) => keeper !== undefined && isGoing(keeper.metadata));
  if (going !== undefined) throw new EffectError("MODE_CHANGED", `${going.kind} ${going.metadata.name} is being deleted`);
}

/** With `--cascade=orphan` what an object made stays. */
function isGoing(metadata: ObjectMeta): boolean {
  return metadata.deletionTimestamp !== undefined && !isBeingOrphaned(metadata);
}
