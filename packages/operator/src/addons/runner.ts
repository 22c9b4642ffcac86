import type { HelmResult, HelmSecrets, HelmTask } from "@talos-operator/helm";
import { runId } from "../workers/runner.ts";
import type { RunRequest, RunState, WorkerRunner } from "../workers/runner.ts";

/** Starts workers that install, change and remove Helm releases. */
export type AddonRunner = WorkerRunner<HelmTask, HelmSecrets, HelmResult>;

export type AddonRunRequest = RunRequest<HelmTask, HelmSecrets>;

/** How a run of Helm is. */
export type AddonRunState = RunState<HelmResult>;

/** Whether there is a Helm that workers can use, as far as this process can tell. `message`: what is missing, then what would release it. */
export type HelmPresence = () => Promise<
  { readonly found: true; readonly version?: string } | { readonly found: false; readonly message: string }
>;

/** Of an operator that was given nothing to start workers with. */
export const noWorkersForHelm: HelmPresence = () =>
  Promise.resolve({
    found: false,
    message: "This operator has no workers for Helm. Set ADDON_JOB; in the chart of the operator: addons.enabled.",
  });

/** 12 hex digits that stand for one try for one object: the same in every process that asks. */
export function addonRunId(uid: string, task: HelmTask["kind"], attempt: string): string {
  return runId(uid, task, attempt);
}

/** Name of a run: whoever starts the same try again meets the one that is there. */
export function addonRunName(id: string): string {
  return `addon-${id}`;
}
