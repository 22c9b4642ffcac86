import { labels } from "@talos-operator/api";
import { deleteExactly, isAlreadyExists, isConflict, isNotFound } from "@talos-operator/kube-runtime";
import type { KubeClient, ResourceType } from "@talos-operator/kube-runtime";
import { secretType } from "../secrets/secret.ts";
import type { Secret } from "../secrets/secret.ts";
import { hasJobEnded, jobFor, jobSecret, ownerOf, stateOfJob, withRenewed } from "./job.ts";
import type { Job, JobFolder, JobPod, JobSettings } from "./job.ts";
import type { WorkerRunner, WorkerTask } from "./runner.ts";
import type { WorkerKind } from "./worker-kind.ts";

const jobType: ResourceType = { group: "batch", version: "v1", plural: "jobs", kind: "Job", namespaced: true };
const podType: ResourceType = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };

export interface JobRunnerOptions<Result> {
  readonly kind: WorkerKind<Result>;
  readonly client: KubeClient;
  /** Of the operator: Jobs run beside it, never beside the object that asked for them. */
  readonly namespace: string;
  readonly settings: JobSettings;
  readonly folder?: JobFolder;
}

/** Runs workers as Jobs in the operator's namespace. */
export function createJobRunner<Task extends WorkerTask, Secrets extends object, Result>({
  kind,
  client,
  namespace,
  settings,
  folder,
}: JobRunnerOptions<Result>): WorkerRunner<Task, Secrets, Result> {
  const jobs = client.resource<Job>(jobType);
  const pods = client.resource<JobPod>(podType);
  const secrets = client.resource<Secret>(secretType);
  const tryGet = (name: string): Promise<Job | undefined> => jobs.tryGet({ namespace, name });
  const create = async (job: Job): Promise<Job | undefined> => {
    try {
      return await jobs.create(job);
    } catch (thrown) {
      if (isAlreadyExists(thrown)) return tryGet(job.metadata.name);
      throw thrown;
    }
  };
  const removeSecret = async (name: string): Promise<void> => {
    const secret = await secrets.tryGet({ namespace, name });
    if (secret !== undefined && secret.metadata.labels?.[labels.component] === kind.component) await deleteExactly(secrets, secret);
  };
  return {
    /** The Job first, whose pod waits for its Secret: so the Secret has an owner from its first moment, and no keys are left behind by whoever dies in between. */
    async start(run) {
      const job = (await tryGet(run.name)) ?? (await create(jobFor(kind, run, namespace, settings, folder)));
      if (job === undefined || hasJobEnded(job) || (await secrets.tryGet({ namespace, name: run.name })) !== undefined) return;
      const owner = { apiVersion: "batch/v1", kind: "Job", name: run.name, uid: job.metadata.uid ?? "" };
      const secret = jobSecret(kind, run, namespace);
      try {
        await secrets.create({ ...secret, metadata: { ...secret.metadata, ownerReferences: [owner] } });
      } catch (thrown) {
        if (!isAlreadyExists(thrown)) throw thrown;
      }
    },
    async look(name) {
      const job = await tryGet(name);
      if (job === undefined) return { kind: "absent" };
      const { items } = await pods.list({ namespace, labelSelector: `batch.kubernetes.io/job-name=${name}` });
      const state = stateOfJob(kind.readResult, job, items);
      // Begun by halves: it is to be started once more.
      return state.kind === "waiting" && (await secrets.tryGet({ namespace, name })) === undefined ? { kind: "absent" } : state;
    },
    async remove(name) {
      const job = await tryGet(name);
      if (job !== undefined && ownerOf(kind, job) !== undefined) {
        try {
          await jobs.delete({ namespace, name }, { propagationPolicy: "Background", preconditions: { uid: job.metadata.uid ?? "" } });
        } catch (thrown) {
          if (!isNotFound(thrown)) throw thrown;
        }
      }
      await removeSecret(name);
    },
    /** The kubelet shows a pod what changed in its Secret within about a minute. */
    async refresh(name, renewed) {
      const secret = await secrets.tryGet({ namespace, name });
      if (secret === undefined || secret.metadata.labels?.[labels.component] !== kind.component) return;
      const next = withRenewed(secret, renewed);
      if (next === undefined) return;
      try {
        await secrets.update(next);
      } catch (thrown) {
        // Gone, or changed by somebody who was faster: the next look tries again.
        if (!isNotFound(thrown) && !isConflict(thrown)) throw thrown;
      }
    },
    async list() {
      const { items } = await jobs.list({ namespace, labelSelector: `${labels.component}=${kind.component}` });
      return items.flatMap((job) => {
        const owner = ownerOf(kind, job);
        const isGoing = job.metadata.deletionTimestamp !== undefined;
        return owner === undefined || isGoing ? [] : [{ name: job.metadata.name, owner, hasEnded: hasJobEnded(job) }];
      });
    },
  };
}
