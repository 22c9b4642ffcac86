import { talosControlPlaneResource, talosWorkerResource } from "@talos-operator/api";
import type { ObjectMeta, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { isOfAnother } from "./status-writer.ts";

/** Statuses of a pool are written at any time: so often its newest version is tried. */
const ATTEMPTS = 4;

/** What is applied of a pool: the fields that its owner sets. */
type Wish = (Pick<TalosControlPlane, "kind" | "spec"> | Pick<TalosWorker, "kind" | "spec">) & {
  readonly metadata: ObjectMeta;
};

/**
 * Brings a pool to the spec that its owner wishes, by server-side apply.
 *
 * A pool that exists is written by compare-and-swap on the version that the wish was made for. An apply that arrives late finds another version and takes nothing
 * back: machines that stand only in the newer list would be reset as surplus before the next pass.
 *
 * @param existing as the pass read it; `undefined` = it is to be made
 * @returns the pool as it was stored; `undefined` = its spec was changed or it was replaced since it was read: the next pass looks anew
 * @throws KubeApiError
 */
export async function applyPool(
  client: KubeClient,
  wish: Wish,
  existing: { readonly metadata: ObjectMeta } | undefined,
  fieldManager: string,
): Promise<TalosControlPlane | TalosWorker | undefined> {
  const options = { fieldManager, force: true };
  const controlPlanes = client.resource<TalosControlPlane>(talosControlPlaneResource);
  const workers = client.resource<TalosWorker>(talosWorkerResource);
  let read = existing?.metadata;
  for (let attempt = 1; ; attempt++) {
    const bound = read === undefined ? {} : { uid: read.uid, resourceVersion: read.resourceVersion };
    const wanted = { ...wish, metadata: { ...wish.metadata, ...bound } };
    try {
      return wish.kind === "TalosControlPlane" ? await controlPlanes.apply(wanted, options) : await workers.apply(wanted, options);
    } catch (thrown) {
      if (read === undefined || !isOfAnother(thrown)) throw thrown;
    }
    const live = (await (wish.kind === "TalosControlPlane" ? controlPlanes : workers).tryGet(wish.metadata))?.metadata;
    if (attempt === ATTEMPTS || live === undefined || live.uid !== read.uid || live.generation !== read.generation) return undefined;
    read = live;
  }
}
