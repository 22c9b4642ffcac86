import type { RolledBackResult, UninstalledResult } from "../task/result.ts";
import type { RollbackTask, UninstallTask } from "../task/task.ts";
import { flagsFor } from "./flags.ts";
import { WorkerFault } from "./fault.ts";
import { historyOf, objectsOf } from "./history.ts";
import type { Job } from "./job.ts";
import { demandOwned, releaseLock } from "./ownership.ts";
import { announceRollback, storedRevisions } from "./releases.ts";

/** Removes a release of ours; with none there, or somebody else's, there is nothing to do. @throws WorkerFault */
export async function uninstall(job: Job, { release, owner, options, endedRuns, run }: UninstallTask): Promise<UninstalledResult> {
  const version = await job.version();
  const stored = await releaseLock(job, await storedRevisions(job.client, release), release, endedRuns);
  const [newest] = stored;
  if (newest === undefined || newest.owner !== owner || newest.status === "uninstalled")
    return { kind: "uninstalled", wasThere: false, helm: version.text };
  const good = stored.find(({ status }) => status === "deployed");
  // Helm removes the objects of the newest revision alone. After a failed one, those of the deployed one are made its own first; where that fails, what can be removed is.
  if (good !== undefined && good.number !== newest.number) {
    await announceRollback(job.client, newest, run);
    const back = ["rollback", release.name, String(good.number), `--namespace=${release.namespace}`, `--kubeconfig=${job.kubeconfig}`];
    await job.run([...back, "--no-hooks"]);
  }
  await job.cluster(["uninstall", release.name, `--namespace=${release.namespace}`, ...flagsFor("uninstall", options, version.major)]);
  return { kind: "uninstalled", wasThere: true, helm: version.text };
}

/** Back to a revision. @throws WorkerFault */
export async function rollback(job: Job, task: RollbackTask): Promise<RolledBackResult> {
  const { release, revision, options, endedRuns, owner, run } = task;
  const version = await job.version();
  const stored = await releaseLock(job, await storedRevisions(job.client, release), release, endedRuns);
  demandOwned(stored, { release, owner, unowned: "refuse" });
  if (stored[0] !== undefined) await announceRollback(job.client, stored[0], run);
  await job.cluster([
    "rollback",
    release.name,
    String(revision),
    `--namespace=${release.namespace}`,
    ...flagsFor("rollback", options, version.major),
  ]);
  const history = await historyOf(job, release, await storedRevisions(job.client, release));
  const [newest] = history;
  if (newest === undefined) throw new WorkerFault("failed", "Helm knows no revision of the release.", true);
  return { kind: "rolled-back", revision: newest, history, objects: await objectsOf(job, release), helm: version.text };
}
