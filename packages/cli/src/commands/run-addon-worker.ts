import { systemTimers } from "@talos-operator/adapters";
import { isManifestsTask } from "@talos-operator/helm";
import type { AddonResult, AddonSecrets, AddonTask } from "@talos-operator/helm";
import { createManifestFetcher } from "@talos-operator/helm/adapters";
import { runManifests, runTask } from "@talos-operator/helm/worker";
import { CliError } from "../cli-error.ts";
import { givenString, requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { withHelm } from "../process/helm-worker.ts";
import { readJson, untilOrphaned, writeResult } from "../process/worker-files.ts";

/** @throws CliError when task or secrets cannot be read, or the answer cannot be written: everything else is in the answer */
export async function runAddonWorker(flags: FlagValues, { signal }: CommandContext): Promise<void> {
  const task = readJson(requiredString(flags, "task")) as unknown as AddonTask;
  const secrets = readJson(requiredString(flags, "secrets")) as unknown as AddonSecrets;
  checkKind(task);
  const stop = AbortSignal.any([signal, untilOrphaned()]);
  const options = { helm: givenString(flags, "helm"), scratchDirectory: givenString(flags, "scratch-directory") };
  await withHelm(stop, options, async (deps) => {
    const result: AddonResult = isManifestsTask(task)
      ? await runManifests(task, secrets, { ...deps, fetch: createManifestFetcher(), timers: systemTimers })
      : await runTask(task, secrets, deps);
    writeResult(requiredString(flags, "result"), result, "This is a fault of the operator: report it.");
  });
}

const KINDS: Readonly<Record<AddonTask["kind"], true>> = {
  apply: true,
  uninstall: true,
  rollback: true,
  inspect: true,
  preview: true,
  "apply-manifests": true,
  "remove-manifests": true,
};

function checkKind({ kind = "apply", release, owner, timeoutMs }: Partial<AddonTask>): void {
  const isTask = Object.hasOwn(KINDS, kind) && release !== undefined && owner !== undefined && Number.isFinite(timeoutMs);
  if (!isTask) throw new CliError("the task is none that this version knows", "Run the worker of the operator's own version.");
}
