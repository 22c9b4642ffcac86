import { KubeApiError } from "@talos-operator/kube-runtime";
import type { HelmFailed, HelmResult } from "../task/result.ts";
import type { HelmSecrets, HelmTask } from "../task/task.ts";
import { apply } from "./apply.ts";
import type { WorkerDeps } from "./deps.ts";
import { WorkerFault } from "./fault.ts";
import { inspect } from "./inspect.ts";
import { Job } from "./job.ts";
import { preview } from "./preview.ts";
import { rollback } from "./rollback.ts";
import { uninstall } from "./uninstall.ts";

/** A result fits into a termination message. Bytes. */
const LARGEST_RESULT = 4_096;

/** Does one task. Never throws: what goes wrong is the result. Given again after any crash it finds on the release what is done. */
export async function runTask(task: HelmTask, secrets: HelmSecrets, deps: WorkerDeps): Promise<HelmResult> {
  try {
    const problem = problemOf(task);
    if (problem !== undefined) throw new WorkerFault("bad-task", problem, false);
    const api = await deps.open(secrets.kubeconfig);
    try {
      return fitting(await carryOut(task, new Job(deps, secrets, api.client, task.timeoutMs)));
    } finally {
      api.close();
    }
  } catch (thrown) {
    return failedBy(thrown);
  }
}

function carryOut(task: HelmTask, job: Job): Promise<HelmResult> {
  switch (task.kind) {
    case "apply":
      return apply(job, task);
    case "uninstall":
      return uninstall(job, task);
    case "inspect":
      return inspect(job, task);
    case "rollback":
      return rollback(job, task);
    case "preview":
      return preview(job, task);
  }
}

/** What can be refused without asking anybody: names stand in arguments, and none may look like a flag. */
function problemOf(task: HelmTask): string | undefined {
  const { name, namespace } = task.release;
  if (!/^[a-z0-9]([-a-z0-9.]{0,51}[a-z0-9])?$/.test(name))
    return `${name.slice(0, 60)} cannot be the name of a release: at most 53 characters, lower case.`;
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace)) return `${namespace.slice(0, 70)} cannot be a namespace.`;
  if (task.kind !== "apply" && task.kind !== "preview") return undefined;
  const { chart } = task;
  if (!/^[A-Za-z0-9][\w.-]{0,199}$/.test(chart.name)) return `${chart.name.slice(0, 60)} cannot be the name of a chart.`;
  if (chart.version !== undefined && !/^[\w.+*^~<>=|, -]{1,100}$/.test(chart.version)) return "The version of the chart is none.";
  return URL.canParse(chart.repository) ? undefined : "The address of the repository is no URL.";
}

function failedBy(thrown: unknown): HelmFailed {
  if (thrown instanceof WorkerFault) {
    const { reason, message, mayRepeat, chart, history } = thrown;
    const known = { ...(chart === undefined ? {} : { chart }), ...(history === undefined ? {} : { history }) };
    return { kind: "failed", reason, message, mayRepeat, ...known };
  }
  if (thrown instanceof KubeApiError) {
    const isRefused = thrown.code === "UNAUTHORIZED" || thrown.code === "FORBIDDEN";
    const message = isRefused ? "The cluster refuses the access." : "The API of the cluster does not answer.";
    return { kind: "failed", reason: isRefused ? "cluster-refused" : "cluster-unreachable", message, mayRepeat: true };
  }
  return {
    kind: "failed",
    reason: "failed",
    message: `The worker failed: ${thrown instanceof Error ? thrown.name : "unknown"}.`,
    mayRepeat: true,
  };
}

/** Older revisions are left out first, and the last changes: the kubelet would cut the text in its middle. */
function fitting(result: HelmResult): HelmResult {
  let fits = result;
  while (
    Buffer.byteLength(JSON.stringify(fits)) > LARGEST_RESULT &&
    "history" in fits &&
    fits.history !== undefined &&
    fits.history.length > 1
  )
    fits = { ...fits, history: fits.history.slice(0, -1) };
  if (Buffer.byteLength(JSON.stringify(fits)) > LARGEST_RESULT && "objects" in fits)
    fits = { ...fits, objects: { total: fits.objects.total, workloads: fits.objects.workloads.slice(0, 5) } };
  while (Buffer.byteLength(JSON.stringify(fits)) > LARGEST_RESULT && "changes" in fits && fits.changes.length > 0)
    fits = { ...fits, changes: fits.changes.slice(0, -1) };
  return fits;
}
