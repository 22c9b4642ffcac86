import type { AddonResult, AddonSecrets, AddonTask } from "@talos-operator/helm";
import { runId } from "../workers/runner.ts";
import type { RunRequest, RunState, WorkerRunner } from "../workers/runner.ts";

/** Starts workers that install, change and remove Helm releases and sets of objects. */
export type AddonRunner = WorkerRunner<AddonTask, AddonSecrets, AddonResult>;

export type AddonRunRequest = RunRequest<AddonTask, AddonSecrets>;

/** How a run is. */
export type AddonRunState = RunState<AddonResult>;

/**
 * Whether there is a Helm that workers can use, as far as this process can tell. `message`: what is missing, then what would release it; `withoutWorkers`: there is nobody
 * who could do anything, with Helm or without.
 */
export type HelmPresence = () => Promise<
  { readonly found: true; readonly version?: string } | { readonly found: false; readonly message: string; readonly withoutWorkers?: true }
>;

/** Of an operator that was given nothing to start workers with. */
export const noWorkersForHelm: HelmPresence = () =>
  Promise.resolve({
    found: false,
    withoutWorkers: true,
    message: "This operator has no workers for Helm. Set ADDON_JOB; in the chart of the operator: addons.enabled.",
  });

/** 12 hex digits that stand for one try for one object: the same in every process that asks. */
export function addonRunId(uid: string, task: string, attempt: string): string {
  return runId(uid, task, attempt);
}

/** Name of a run: whoever starts the same try again meets the one that is there. */
export function addonRunName(id: string): string {
  return `addon-${id}`;
}
