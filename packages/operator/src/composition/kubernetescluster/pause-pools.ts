import { annotations, apiVersionOf, controllerOf, talosControlPlaneResource, talosWorkerResource } from "@talos-operator/api";
import type { ReconcileMode, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { keyText } from "@talos-operator/kube-runtime";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Seen } from "./model.ts";

/** Owner of the word on the pools, and of nothing else: what a person wrote on a pool stays when the cluster goes on. */
const FIELD_MANAGER = "talos-operator/kubernetescluster-pause";

/** Hands a pause of a cluster on to its pools, and takes it back. @param isPaused asked before it is taken back */
export type PoolPauser = (
  seen: Seen,
  mode: Exclude<ReconcileMode, "reconcile"> | undefined,
  isPaused: () => Promise<boolean>,
) => Promise<void>;

export function createPoolPauser(client: KubeClient): PoolPauser {
  /** Pools whose word was asked back, as they were then: one that is still there is a person's. */
  const asked = new Map<string, string | undefined>();
  const say = async (pool: TalosControlPlane | TalosWorker, mode: string | undefined): Promise<void> => {
    const type = pool.kind === "TalosControlPlane" ? talosControlPlaneResource : talosWorkerResource;
    const { namespace, name } = pool.metadata;
    const words = mode === undefined ? {} : { annotations: { [annotations.reconcileMode]: mode } };
    const wish = { apiVersion: apiVersionOf(type), kind: pool.kind, metadata: { namespace, name, ...words } };
    const stored = await client.resource(type).apply(wish, { fieldManager: FIELD_MANAGER, force: true });
    asked.set(`${pool.kind}/${keyText(pool.metadata)}`, stored.metadata?.resourceVersion);
  };
  return async ({ cluster, controlPlane, workers }, mode, isPaused) => {
    const pools = [controlPlane, ...workers].filter(
      (pool) =>
        pool !== undefined && controllerOf(pool.metadata)?.uid === cluster.metadata.uid && pool.metadata.deletionTimestamp === undefined,
    );
    for (const pool of pools) {
      if (pool === undefined) continue;
      const word = pool.metadata.annotations?.[annotations.reconcileMode];
      const isAsked = asked.has(`${pool.kind}/${keyText(pool.metadata)}`);
      if (mode === undefined ? word !== undefined && !isAsked : word !== mode) {
        if (mode === undefined && (await isPaused())) return;
        await say(pool, mode);
      }
      // A pause that comes later can be taken back, too.
      if (mode !== undefined || word === undefined) asked.delete(`${pool.kind}/${keyText(pool.metadata)}`);
    }
  };
}
