import type { AppliedResult, HelmFailed, Revision } from "../task/result.ts";
import type { ApplyTask } from "../task/task.ts";
import { chartOf } from "./chart-of-task.ts";
import { WorkerFault } from "./fault.ts";
import { flagsFor } from "./flags.ts";
import { historyOf, isRollback, objectsOf } from "./history.ts";
import type { Job } from "./job.ts";
import { labelNamespace } from "./label-namespace.ts";
import { demandOwned, releaseLock } from "./ownership.ts";
import { announceRollback, releaseLabels, storedRevisions } from "./releases.ts";
import type { StoredRevision } from "./releases.ts";

/** Installs or upgrades, unless the newest revision came of these inputs. @throws WorkerFault */
export async function apply(job: Job, task: ApplyTask): Promise<AppliedResult | HelmFailed> {
  const { release, owner, inputs, run, options } = task;
  const version = await job.version();
  const before = await withoutHalfUninstalled(job, task);
  const [newest] = before;
  demandOwned(before, task);
  const { chart, isAdopted } = await chartOf(job, task, before);
  const isSame = newest?.status === "deployed" && newest.owner === owner && newest.inputs === inputs && newest.number > (task.beyond ?? 0);
  // What a person upgraded bears our labels, and not our inputs; what was rolled back to is what it says.
  const isDone = isSame && (newest.run !== undefined || (await isRollback(job, release, newest.number)));
  if (!isDone) {
    if (task.namespaceLabels !== undefined) await labelNamespace(job, release.namespace, task.namespaceLabels);
    const values = job.secrets.values.map((text, index) => `--values=${job.deps.scratch.write(`values-${index}.yaml`, text)}`);
    const labels = Object.entries({ [releaseLabels.owner]: owner, [releaseLabels.inputs]: inputs, [releaseLabels.run]: run });
    const end = await job.run([
      "upgrade",
      release.name,
      chart.path,
      "--install",
      `--namespace=${release.namespace}`,
      `--kubeconfig=${job.kubeconfig}`,
      `--labels=${labels.map(([key, value]) => `${key}=${value}`).join(",")}`,
      ...flagsFor("upgrade", options, version.major, { takesBack: task.beyond !== undefined }),
      ...values,
    ]);
    if (end.kind !== "exited" || end.code !== 0)
      return await afterFailure(job, task, job.faultOf(end, "cluster"), chart.facts, version.text);
  }
  const stored = await storedRevisions(job.client, release);
  const history = await historyOf(job, release, stored);
  const [revision] = history;
  if (revision === undefined)
    throw new WorkerFault("failed", "Helm says that it is installed, and knows no revision of it.", true, { chart: chart.facts });
  return {
    kind: "applied",
    revision,
    chart: chart.facts,
    isNew: !isDone,
    ...(isAdopted ? { adopted: true } : {}),
    history,
    objects: await objectsOf(job, release),
    helm: version.text,
  };
}

/**
 * The revisions, without an uninstallation of ours that was broken off: Helm upgrades nothing from there, so it is ended first, and what follows installs anew.
 *
 * @throws WorkerFault
 */
async function withoutHalfUninstalled(job: Job, { release, owner, endedRuns }: ApplyTask): Promise<readonly StoredRevision[]> {
  const stored = await releaseLock(job, await storedRevisions(job.client, release), release, endedRuns);
  const [newest] = stored;
  if (newest?.status !== "uninstalling") return stored;
  if (newest.owner !== owner)
    throw new WorkerFault(
      "release-locked",
      `${release.name} is being uninstalled by somebody else's Helm, or that was broken off: run helm uninstall once more.`,
      true,
    );
  await remove(job, release, []);
  return storedRevisions(job.client, release);
}

async function remove(job: Job, { name, namespace }: ApplyTask["release"], flags: readonly string[]): Promise<void> {
  await job.cluster(["uninstall", name, `--namespace=${namespace}`, ...flags]);
}

/** What Helm has by now, and the way back where it was asked for. */
async function afterFailure(
  job: Job,
  task: ApplyTask,
  fault: WorkerFault,
  chart: AppliedResult["chart"],
  helm: string,
): Promise<HelmFailed> {
  const { release } = task;
  const failed = { kind: "failed", reason: fault.reason, message: fault.message, mayRepeat: fault.mayRepeat, chart, helm } as const;
  let history: readonly Revision[];
  try {
    const stored = await storedRevisions(job.client, release);
    history = await historyOf(job, release, stored);
    const [newest] = stored;
    const good = stored.find(({ status }) => status === "deployed" || status === "superseded");
    const isBack = task.rollbackOnFailure || task.options.atomic === true;
    if (!isBack || newest === undefined || newest.status === "deployed") return { ...failed, history };
    const { major } = await job.version();
    if (good === undefined) {
      if (task.options.atomic !== true || newest.run !== task.run) return { ...failed, history };
      await remove(job, release, flagsFor("uninstall", { ...task.options, keepHistory: false }, major));
      return { ...failed, message: `${fault.message} What it made is removed.`, history: [] };
    }
    await announceRollback(job.client, newest, task.run);
    await job.cluster([
      "rollback",
      release.name,
      String(good.number),
      `--namespace=${release.namespace}`,
      ...flagsFor("rollback", task.options, major),
    ]);
    return { ...failed, history: await historyOf(job, release, await storedRevisions(job.client, release)), rolledBackTo: good.number };
  } catch (thrown) {
    // The first failure is the one that people have to know.
    if (thrown instanceof WorkerFault) return { ...failed, message: `${fault.message} The way back failed as well: ${thrown.message}` };
    return failed;
  }
}
