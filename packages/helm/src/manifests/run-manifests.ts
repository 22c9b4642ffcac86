import type { AddonSecrets, ManifestsRemovedResult, ManifestsResult, ManifestsTask, RemoveManifestsTask } from "../task/manifests.ts";
import { applySet, keptOf } from "./apply-set.ts";
import type { ManifestsDeps } from "./deps.ts";
import { ManifestsFault, failedBy } from "./fault.ts";
import { removeEntries } from "./removal.ts";
import { SetRun } from "./set-run.ts";

/** A result fits into a termination message. Bytes. */
const LARGEST_RESULT = 4_096;

/** Does one task over a set of objects. Never throws: what goes wrong is the result. Given again after any crash it finds in the inventory what was begun. */
export async function runManifests(task: ManifestsTask, secrets: AddonSecrets, deps: ManifestsDeps): Promise<ManifestsResult> {
  try {
    demandNames(task);
    const api = await deps.open(secrets.kubeconfig);
    try {
      const run = new SetRun(deps, api.client, task);
      return fitting(task.kind === "apply-manifests" ? await applySet(run, task, secrets.texts ?? []) : await removeSet(run, task));
    } finally {
      api.close();
    }
  } catch (thrown) {
    return failedBy(thrown);
  }
}

/** Removes what the inventory names, and the inventory: only once nothing of it is left to be removed. @throws ManifestsFault, KubeApiError */
async function removeSet(run: SetRun, task: RemoveManifestsTask): Promise<ManifestsRemovedResult> {
  const inventory = await run.inventory.read();
  if (inventory === undefined) return { kind: "manifests-removed", wasThere: false, deleted: 0, kept: keptOf([]) };
  const { deleted, kept } = await removeEntries(run, inventory.entries, task, true);
  await run.inventory.remove();
  return { kind: "manifests-removed", wasThere: true, deleted, kept: keptOf(kept) };
}

/** Names stand in paths and in the name of a ConfigMap. @throws ManifestsFault `bad-task` */
function demandNames({ owner, release }: ManifestsTask): void {
  if (!/^[a-z0-9]([-a-z0-9]{0,62}[a-z0-9])?$/.test(owner)) throw new ManifestsFault("bad-task", "The owner of the set is no UID.", false);
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(release.namespace))
    throw new ManifestsFault("bad-task", `${release.namespace.slice(0, 70)} cannot be a namespace.`, false);
}

/** The kubelet would cut the text in its middle. */
function fitting(result: ManifestsResult): ManifestsResult {
  if (Buffer.byteLength(JSON.stringify(result)) <= LARGEST_RESULT) return result;
  if (result.kind === "manifests-failed") return { ...result, message: result.message.slice(0, 500) };
  const kept = { ...result.kept, names: result.kept.names.slice(0, 3) };
  return result.kind === "manifests-removed" ? { ...result, kept } : { ...result, kept, workloads: result.workloads.slice(0, 5) };
}
