import type { UninstalledResult } from "../task/result.ts";
import type { UninstallTask } from "../task/task.ts";
import { flagsFor } from "./flags.ts";
import type { Job } from "./job.ts";
import { releaseLock } from "./ownership.ts";
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
