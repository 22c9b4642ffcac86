import type { ObjectCount, Revision, WorkloadRef } from "../task/result.ts";
import type { ReleaseName } from "../task/task.ts";
import type { Job } from "./job.ts";
import { objectsIn } from "./objects-in.ts";
import type { ManifestObject } from "./objects-in.ts";
import type { StoredRevision } from "./releases.ts";

/** Newest revisions that a result names. */
const MOST_REVISIONS = 10;
/** What runs pods, and is named in a result. */
const MOST_WORKLOADS = 20;

interface HelmRevision {
  readonly revision: number;
  readonly updated: string;
  readonly status: string;
  readonly chart: string;
  readonly app_version?: string;
  readonly description?: string;
}

/** What Helm tells of a release, newest first. Empty = it knows none. */
export async function historyOf(
  job: Job,
  { name, namespace }: ReleaseName,
  stored: readonly StoredRevision[],
): Promise<readonly Revision[]> {
  if (stored.length === 0) return [];
  const { stdout } = await job.cluster(["history", name, `--namespace=${namespace}`, "--output=json", `--max=${MOST_REVISIONS}`]);
  const told = JSON.parse(stdout) as readonly HelmRevision[];
  return told
    .map(({ revision, updated, status, chart, app_version }) => {
      const inputs = stored.find(({ number }) => number === revision)?.inputs;
      const [, version = chart] = /-(v?\d.*)$/.exec(chart) ?? [];
      const at = Date.parse(updated);
      return {
        number: revision,
        status,
        chartVersion: version.slice(0, 100),
        ...(app_version === undefined || app_version === "" ? {} : { appVersion: app_version.slice(0, 100) }),
        at: Number.isNaN(at) ? 0 : at,
        ...(inputs === undefined ? {} : { inputs }),
      };
    })
    .toSorted((a, b) => b.number - a.number);
}

/** Whether Helm made a revision by going back to another one. @param to to this one; default: to any */
export async function isRollback(job: Job, { name, namespace }: ReleaseName, number: number, to?: number): Promise<boolean> {
  const { stdout } = await job.cluster(["history", name, `--namespace=${namespace}`, "--output=json", "--max=1"]);
  const told = JSON.parse(stdout) as readonly HelmRevision[];
  return told.some(
    ({ revision, description }) =>
      revision === number && (to === undefined ? description?.startsWith("Rollback to ") === true : description === `Rollback to ${to}`),
  );
}

const RUNS_PODS: ReadonlySet<string> = new Set(["apps/v1 Deployment", "apps/v1 DaemonSet", "apps/v1 StatefulSet", "batch/v1 Job"]);

/** Objects of the newest revision. */
export async function objectsOf(job: Job, { name, namespace }: ReleaseName): Promise<ObjectCount> {
  const { stdout } = await job.cluster(["get", "manifest", name, `--namespace=${namespace}`]);
  const { objects, unread } = objectsIn(stdout);
  const workloads = (objects as readonly Manifest[])
    .filter(({ apiVersion, kind }) => RUNS_PODS.has(`${apiVersion} ${kind}`))
    .map(({ kind, metadata }) => ({
      kind: kind as WorkloadRef["kind"],
      namespace: metadata?.namespace ?? namespace,
      name: metadata?.name ?? "",
    }));
  return { total: objects.length + unread, workloads: workloads.slice(0, MOST_WORKLOADS) };
}

interface Manifest extends ManifestObject {
  readonly apiVersion?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
}
