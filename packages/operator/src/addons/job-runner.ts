import type { KubeClient } from "@talos-operator/kube-runtime";
import type { JobSettings } from "../workers/job.ts";
import { createJobRunner } from "../workers/job-runner.ts";
import type { AddonRunner } from "./runner.ts";
import { addonWorkers } from "./workers.ts";

export interface AddonJobRunnerOptions {
  readonly client: KubeClient;
  /** Of the operator. */
  readonly namespace: string;
  /** As the environment variable `ADDON_JOB` gives it. */
  readonly settings: JobSettings;
}

/** Runs Helm in Jobs in the operator's namespace. */
export function createAddonJobRunner({ client, namespace, settings }: AddonJobRunnerOptions): AddonRunner {
  return createJobRunner({ kind: addonWorkers, client, namespace, settings });
}
