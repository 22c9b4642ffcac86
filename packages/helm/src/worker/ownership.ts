import type { ApplyTask, ReleaseName } from "../task/task.ts";
import { WorkerFault } from "./fault.ts";
import type { Job } from "./job.ts";
import { failRevision, storedRevisions } from "./releases.ts";
import type { StoredRevision } from "./releases.ts";

/** Releases a lock that an ended run of ours left; everybody else's is waited for. @returns the revisions as they are by then @throws WorkerFault */
export async function releaseLock(
  job: Job,
  stored: readonly StoredRevision[],
  release: ReleaseName,
  endedRuns: readonly string[],
): Promise<readonly StoredRevision[]> {
  const [newest] = stored;
  if (newest === undefined || !(newest.status.startsWith("pending-") || newest.status === "uninstalling")) return stored;
  if (newest.status === "uninstalling") return stored;
  if (newest.run === undefined || !endedRuns.includes(newest.run))
    throw new WorkerFault(
      "release-locked",
      `Revision ${newest.number} of ${release.name} is ${newest.status}: somebody else's Helm is at work on it, or left its lock behind.`,
      true,
    );
  await failRevision(job, newest);
  return storedRevisions(job.client, release);
}

/** @throws WorkerFault `release-not-ours` */
export function demandOwned(
  stored: readonly StoredRevision[],
  { owner, release, unowned }: Pick<ApplyTask, "owner" | "release" | "unowned">,
): void {
  const [newest] = stored;
  if (newest === undefined || newest.owner === owner) return;
  if (newest.owner !== undefined)
    throw new WorkerFault("release-not-ours", `The Helm release ${release.name} in ${release.namespace} belongs to another addon.`, false);
  if (unowned === "refuse")
    throw new WorkerFault(
      "release-not-ours",
      `A Helm release ${release.name} is there already in ${release.namespace}, and belongs to no addon.`,
      false,
    );
}
