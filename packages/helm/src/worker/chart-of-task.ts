import type { ApplyTask } from "../task/task.ts";
import { WorkerFault } from "./fault.ts";
import { fetchChart } from "./fetch-chart.ts";
import type { FetchedChart } from "./fetch-chart.ts";
import type { Job } from "./job.ts";
import type { StoredRevision } from "./releases.ts";

/**
 * Fetches the chart that a task asks for; of a release that is taken over the one that runs, where no version is asked for.
 *
 * @param before its revisions, newest first
 * @throws WorkerFault
 */
export async function chartOf(
  job: Job,
  { release, chart: wanted }: Pick<ApplyTask, "release" | "chart">,
  before: readonly StoredRevision[],
): Promise<{ readonly chart: FetchedChart; readonly isAdopted: boolean }> {
  const [newest] = before;
  const isAdopted = newest !== undefined && newest.owner === undefined;
  const running = isAdopted ? await runningChart(job, release) : undefined;
  if (running !== undefined && running.name !== wanted.name)
    throw new WorkerFault("release-not-ours", `A Helm release ${release.name} is there already, of the chart ${running.name}.`, false);
  // Whoever asks for no version wants what runs to go on: a takeover is no upgrade.
  const asked = running !== undefined && wanted.version === undefined ? { ...wanted, version: running.version } : wanted;
  const chart = await fetchChart(job, asked).catch((thrown: unknown) => {
    if (running !== undefined && asked !== wanted && thrown instanceof WorkerFault && thrown.reason === "chart-not-found")
      throw new WorkerFault(
        "chart-not-found",
        `${running.name} ${running.version} runs already, and the repository has that version no more: set spec.helmSpec.version. ${thrown.message}`,
        false,
      );
    // Nothing was made, and nothing was there: whoever waits for this name may let it go.
    if (thrown instanceof WorkerFault && before.length === 0)
      throw new WorkerFault(thrown.reason, thrown.message, thrown.mayRepeat, { cause: thrown, history: [] });
    throw thrown;
  });
  return { chart, isAdopted };
}

/** The chart that a release came of. */
async function runningChart(job: Job, release: ApplyTask["release"]): Promise<{ readonly name: string; readonly version: string }> {
  const { stdout } = await job.cluster(["get", "metadata", release.name, `--namespace=${release.namespace}`, "--output=json"]);
  const told = JSON.parse(stdout) as { readonly chart?: string; readonly version?: string };
  return { name: (told.chart ?? "").slice(0, 100), version: (told.version ?? "").slice(0, 100) };
}
