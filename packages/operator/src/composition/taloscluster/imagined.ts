import { controllerOf } from "@talos-operator/api";
import type { TalosCluster, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import { childrenOf } from "./decide.ts";

/** The objects that a brain would decide on. */
export interface Imagined {
  readonly controlPlane: TalosControlPlane;
  readonly workers: readonly TalosWorker[];
}

/**
 * The children of a TalosCluster as they would be if it were acted on: those that exist with the spec that the cluster has now, those that do not as
 * they would be made, and all of them on their way out when the cluster is. For a dry run; nothing is stored.
 *
 * `undefined` when the cluster makes no control plane of its own.
 */
export function imagine(
  cluster: TalosCluster,
  existing: { readonly controlPlane: TalosControlPlane | undefined; readonly workers: readonly TalosWorker[] },
): Imagined | undefined {
  const wanted = childrenOf(cluster);
  if (wanted.controlPlane === undefined) return undefined;
  const going = cluster.metadata.deletionTimestamp;
  const controlPlane = withUid(merged(wanted.controlPlane, existing.controlPlane, going), `dry-run-${cluster.metadata.uid ?? ""}`);
  const others = existing.workers.filter((worker) => worker.metadata.name !== wanted.worker?.metadata.name);
  const own = existing.workers.find((worker) => worker.metadata.name === wanted.worker?.metadata.name);
  return {
    controlPlane,
    workers: [
      // A pool that was taken out of the spec goes under its own policy.
      ...others.map((worker) => (controllerOf(worker.metadata)?.uid === cluster.metadata.uid ? leaving(worker, going ?? NOW) : worker)),
      ...(wanted.worker === undefined || (going !== undefined && own === undefined) ? [] : [merged(wanted.worker, own, going)]),
    ].toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
  };
}

/** An object that was never stored has none, and a record is told from another's by it. */
function withUid(object: TalosControlPlane, uid: string): TalosControlPlane {
  return object.metadata.uid === undefined ? { ...object, metadata: { ...object.metadata, uid } } : object;
}

/** Any time does: that it is set is what counts. */
const NOW = "1970-01-01T00:00:00Z";

function merged<T extends TalosControlPlane | TalosWorker>(wanted: T, existing: T | undefined, going: string | undefined): T {
  const object = existing === undefined ? wanted : { ...existing, spec: wanted.spec };
  return going === undefined ? object : leaving(object, going);
}

function leaving<T extends TalosControlPlane | TalosWorker>(object: T, at: string): T {
  return object.metadata.deletionTimestamp === undefined ? { ...object, metadata: { ...object.metadata, deletionTimestamp: at } } : object;
}
