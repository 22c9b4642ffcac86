import type { PreviewedResult } from "../task/result.ts";
import type { PreviewTask } from "../task/task.ts";
import { chartOf } from "./chart-of-task.ts";
import { changesBetween } from "./changes.ts";
import { WorkerFault } from "./fault.ts";
import { flagsFor } from "./flags.ts";
import type { Job } from "./job.ts";
import type { ManifestObject } from "./objects-in.ts";
import { demandOwned } from "./ownership.ts";
import { demandObjects } from "./printed-manifest.ts";
import { storedRevisions } from "./releases.ts";
import { disguised, hiding, secretsIn } from "./hide.ts";

/** Asks Helm, and the API of the cluster, what an apply would make of the release. Changes nothing. @throws WorkerFault, KubeApiError */
export async function preview(job: Job, task: PreviewTask): Promise<PreviewedResult> {
  const { release, options } = task;
  const version = await job.version();
  const before = await storedRevisions(job.client, release);
  demandOwned(before, task);
  const { chart } = await chartOf(job, task, before);
  const place = `--namespace=${release.namespace}`;
  const deployed = before.find(({ status }) => status === "deployed");
  const has =
    deployed === undefined
      ? []
      : demandObjects((await job.cluster(["get", "manifest", release.name, place, `--revision=${deployed.number}`])).stdout);
  const render = async (values: readonly string[]): Promise<readonly ManifestObject[]> => {
    const { stdout } = await job.cluster([
      "upgrade",
      release.name,
      chart.path,
      "--install",
      place,
      "--dry-run=server",
      "--hide-notes",
      ...flagsFor("upgrade", { ...options, wait: false, waitForJobs: false, atomic: false }, version.major),
      ...values.map((text, index) => `--values=${job.deps.scratch.write(`values-${index}.yaml`, text)}`),
    ]);
    return demandObjects(stdout, manifestIn);
  };
  const { values, hidden = [] } = job.secrets;
  const wanted = await render(values);
  const twin = await render(values.map((text, index) => (hidden.includes(index) ? disguised(text) : text))).catch(nothingOfIt);
  const secrets = secretsIn(
    [...has, ...wanted],
    hidden.flatMap((index) => values[index] ?? []),
  );
  const changes = changesBetween({ before: has, after: wanted, twin }, release.namespace, hiding(secrets));
  return {
    kind: "previewed",
    chart: chart.facts,
    ...(deployed === undefined ? {} : { revision: deployed.number }),
    changes,
    total: changes.length,
    helm: version.text,
  };
}

/** A chart that takes no other texts than those: then no value of it is told. */
function nothingOfIt(thrown: unknown): readonly ManifestObject[] {
  if (thrown instanceof WorkerFault) return [];
  throw thrown;
}

/** What Helm would apply stands last in what it prints. @throws WorkerFault */
function manifestIn(printed: string): string {
  const begin = /^MANIFEST:$/m.exec(printed);
  if (begin === null) throw new WorkerFault("failed", "Helm prints no manifest for what would be installed.", true);
  return printed.slice(begin.index + begin[0].length);
}
