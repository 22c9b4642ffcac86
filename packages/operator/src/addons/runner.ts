import type { HelmResult, HelmSecrets, HelmTask } from "@talos-operator/helm";
import { runId } from "../workers/runner.ts";
import type { RunRequest, RunState, WorkerRunner } from "../workers/runner.ts";

/** Starts workers that install, change and remove Helm releases. */
export type AddonRunner = WorkerRunner<HelmTask, HelmSecrets, HelmResult>;

export type AddonRunRequest = RunRequest<HelmTask, HelmSecrets>;

/** How a run of Helm is. */
export type AddonRunState = RunState<HelmResult>;

/** Whether there is a Helm that workers can use, as far as this process can tell. */
export type HelmPresence = () => Promise<{ readonly found: true } | { readonly found: false; readonly message: string }>;

/** 12 hex digits that stand for one try for one object: the same in every process that asks. */
export function addonRunId(uid: string, task: HelmTask["kind"], attempt: string): string {
  return runId(uid, task, attempt);
}

/** Name of a run: whoever starts the same try again meets the one that is there. */
export function addonRunName(id: string): string {
  return `addon-${id}`;
}
