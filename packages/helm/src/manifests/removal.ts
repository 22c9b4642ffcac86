import { isConflict, isNotFound, isNotServed } from "@talos-operator/kube-runtime";
import type { KubeObject, ResourceClient } from "@talos-operator/kube-runtime";
import type { ManifestsTask } from "../task/manifests.ts";
import { faultOfCall } from "./fault.ts";
import { OWNER_ANNOTATION, entryText } from "./inventory.ts";
import type { Entry } from "./inventory.ts";
import { inOrder } from "./order.ts";
import type { SetRun } from "./set-run.ts";

/** With one of them goes everything inside it, or the data of somebody: they are deleted only when that was asked for. */
const PROTECTED: ReadonlySet<string> = new Set(["Namespace", "CustomResourceDefinition", "PersistentVolumeClaim", "PersistentVolume"]);

/** How often an object that somebody changes at the same moment is read anew. */
const TRIES = 5;

export type RemovalPolicy = Pick<ManifestsTask, "prune" | "pruneProtected">;

/** Whether an object that left the set may be deleted. Pure. */
export function mayDelete({ kind }: Pick<Entry, "kind">, { prune, pruneProtected }: RemovalPolicy): boolean {
  return prune && (pruneProtected || !PROTECTED.has(kind));
}

export interface Removed {
  readonly deleted: number;
  /** Ours, and left where they are. */
  readonly kept: readonly Entry[];
}

type Outcome = "deleted" | "kept" | "not-ours" | "gone";

/**
 * Removes what left the set, in the reverse of the order in which it is made. Only what still bears our mark is deleted; of what was there before us only the fields
 * are given back.
 *
 * @param isEnd the set ends: what is kept loses our mark, so that a set that comes after it is not refused
 * @throws ManifestsFault
 */
export async function removeEntries(run: SetRun, entries: readonly Entry[], policy: RemovalPolicy, isEnd: boolean): Promise<Removed> {
  const kinds = run.kinds();
  const kept: Entry[] = [];
  let deleted = 0;
  for (const entry of inOrder(entries).toReversed()) {
    run.demandTime();
    try {
      const type = await kinds.findAnyVersion(entry.apiVersion, entry.kind);
      // With the kind went all of it.
      if (type === undefined) continue;
      const outcome = await removeOne(run, run.client.resource(type), entry, policy, isEnd);
      if (outcome === "deleted") deleted += 1;
      else if (outcome === "kept") kept.push(entry);
    } catch (thrown) {
      if (isNotServed(thrown)) continue;
      throw faultOfCall(thrown, entryText(entry));
    }
  }
  return { deleted, kept: kept.toReversed() };
}

async function removeOne(
  run: SetRun,
  resource: ResourceClient<KubeObject>,
  entry: Entry,
  policy: RemovalPolicy,
  isEnd: boolean,
): Promise<Outcome> {
  const key = { name: entry.name, ...(entry.namespace === undefined ? {} : { namespace: entry.namespace }) };
  for (let tries = 1; ; tries += 1) {
    const object = await resource.tryGet(key, run.call);
    const { uid, resourceVersion, annotations, deletionTimestamp, managedFields } = (object?.metadata ?? {}) as Metadata;
    if (object === undefined || uid === undefined || resourceVersion === undefined || deletionTimestamp !== undefined) return "gone";
    try {
      if (annotations?.[OWNER_ANNOTATION] !== run.owner) {
        if (managedFields?.some(({ manager }) => manager === run.fieldManager) === true) await giveBack(run, resource, object, uid);
        return "not-ours";
      }
      if (mayDelete(entry, policy)) {
        await resource.delete(key, { ...run.call, propagationPolicy: "Background", preconditions: { uid, resourceVersion } });
        return "deleted";
      }
      if (isEnd) await unmark(run, resource, key, resourceVersion);
      return "kept";
    } catch (thrown) {
      if (isNotFound(thrown)) return "gone";
      // Somebody changed it, perhaps whose it is: it is read anew.
      if (!isConflict(thrown) || tries >= TRIES) throw thrown;
    }
  }
}

interface Metadata {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly deletionTimestamp?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly managedFields?: readonly { readonly manager?: string }[];
}

/** Our fields go, those of others stay. By its UID: an apply must not make what is gone. */
async function giveBack(run: SetRun, resource: ResourceClient<KubeObject>, { metadata }: KubeObject, uid: string): Promise<void> {
  const { name = "", namespace } = metadata ?? {};
  await resource.apply(
    { metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid } },
    { ...run.call, fieldManager: run.fieldManager },
  );
}

async function unmark(
  run: SetRun,
  resource: ResourceClient<KubeObject>,
  key: { readonly name: string; readonly namespace?: string },
  resourceVersion: string,
): Promise<void> {
  const value = { metadata: { resourceVersion, annotations: { [OWNER_ANNOTATION]: null } } };
  await resource.patch(key, { type: "merge", value }, run.call);
}
