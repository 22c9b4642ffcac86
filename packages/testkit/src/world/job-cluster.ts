import type { AddonRunRequest, BackupRunRequest } from "@talos-operator/operator";
import type { KubeClient, KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import type { Clock } from "@talos-operator/ports";
import { podType, secretType, type Secret } from "./kinds.ts";
import { takenBy } from "./scripted-runner.ts";

const jobType: ResourceType = { group: "batch", version: "v1", plural: "jobs", kind: "Job", namespaced: true };
const jobNameLabel = "batch.kubernetes.io/job-name";

/**
 * What a cluster does with the Jobs of backups and addons, in one step: each that has its Secret gets a pod whose worker told that all went well.
 *
 * @param client with the rights of an administrator
 */
export async function workOffJobs(client: KubeClient, namespace: string, clock: Clock): Promise<void> {
  const { items } = await client
    .resource<KubeObject & { readonly status?: { readonly conditions?: unknown } }>(jobType)
    .list({ namespace });
  for (const { metadata, status } of items) {
    const name = metadata?.name ?? "";
    if (status?.conditions !== undefined || metadata?.deletionTimestamp !== undefined) continue;
    const secret = await client.resource<Secret>(secretType).tryGet({ namespace, name });
    if (secret === undefined) continue;
    const task = JSON.parse(Buffer.from(secret.data?.["task.json"] ?? "", "base64").toString()) as Task;
    await client.resource(podType).create({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { namespace, name, labels: { [jobNameLabel]: name } },
      spec: { containers: [{ name: "worker", image: "x" }] },
    } as KubeObject);
    const at = new Date(clock.now()).toISOString();
    const message = JSON.stringify(resultOf(task, clock.now()));
    const told = { containerStatuses: [{ state: { terminated: { message, finishedAt: at } } }] };
    await client.resource(podType).patchStatus({ namespace, name }, { type: "merge", value: { status: told } });
    const conditions = [{ type: "Complete", status: "True", lastTransitionTime: at }];
    await client.resource(jobType).patchStatus({ namespace, name }, { type: "merge", value: { status: { conditions } } });
  }
}

type Task = BackupRunRequest["task"] | AddonRunRequest["task"];

function resultOf(task: Task, now: number): object {
  if (task.kind === "uninstall") return { kind: "uninstalled", wasThere: true, helm: "v4.2.4" };
  if (task.kind === "apply" || task.kind === "rollback") {
    const revision = { number: 1, status: "deployed", chartVersion: "1.0.0", at: now };
    const rest = { history: [revision], objects: { total: 1, workloads: [] }, helm: "v4.2.4" };
    if (task.kind === "rollback") return { kind: "rolled-back", revision, ...rest };
    const chart = { name: task.chart.name, version: "1.0.0", digest: "ab".repeat(32) };
    return { kind: "applied", revision: { ...revision, inputs: task.inputs }, chart, isNew: true, ...rest };
  }
  if (task.kind === "take") return takenBy({ task }, now);
  if (task.kind === "remove") return { kind: "removed", slots: task.slots, kept: [] };
  return { kind: "failed", reason: "store-failed", store: "unreachable", message: "The store does not answer.", mayRepeat: true };
}
