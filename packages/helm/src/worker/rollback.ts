import type { RolledBackResult } from "../task/result.ts";
import type { RollbackTask } from "../task/task.ts";
import { WorkerFault } from "./fault.ts";
import { flagsFor } from "./flags.ts";
import { historyOf, isRollback, objectsOf } from "./history.ts";
import type { Job } from "./job.ts";
import { demandOwned, releaseLock } from "./ownership.ts";
import { announceRollback, storedRevisions } from "./releases.ts";

/** Back to a revision, unless the newest one is that, or was made by going back to it. @throws WorkerFault */
export async function rollback(job: Job, task: RollbackTask): Promise<RolledBackResult> {
  const { release, revision, options, endedRuns, owner, run } = task;
  const version = await job.version();
  const stored = await releaseLock(job, await storedRevisions(job.client, release), release, endedRuns);
  demandOwned(stored, { release, owner, unowned: "refuse" });
  const [newest] = stored;
  if (newest === undefined || !stored.some(({ number }) => number === revision))
    throw new WorkerFault(
      "bad-task",
      `Helm knows no revision ${revision} of ${release.name}: it has ${stored.map(({ number }) => number).join(", ") || "none"}. Name another one in the annotation rollback-to, or remove it.`,
      false,
    );
  const isDone = newest.status === "deployed" && (newest.number === revision || (await isRollback(job, release, newest.number, revision)));
  if (!isDone) {
    await announceRollback(job.client, newest, run);
    const back = ["rollback", release.name, String(revision), `--namespace=${release.namespace}`];
    await job.cluster([...back, ...flagsFor("rollback", options, version.major)]);
  }
  const history = await historyOf(job, release, await storedRevisions(job.client, release));
  const [made] = history;
  if (made === undefined) throw new WorkerFault("failed", "Helm knows no revision of the release.", true);
  return { kind: "rolled-back", revision: made, history, objects: await objectsOf(job, release), helm: version.text };
}
