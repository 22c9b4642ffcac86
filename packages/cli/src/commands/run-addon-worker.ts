import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemTimers } from "@talos-operator/adapters";
import { isManifestsTask } from "@talos-operator/helm";
import type { AddonResult, AddonSecrets, AddonTask } from "@talos-operator/helm";
import { createHelmBinary, createManifestFetcher, createScratch } from "@talos-operator/helm/adapters";
import { runManifests, runTask } from "@talos-operator/helm/worker";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import { CliError } from "../cli-error.ts";
import { givenString, requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { readJson, untilOrphaned, writeResult } from "../process/worker-files.ts";

/** Longest answer of a cluster that is read. Helm keeps each revision in a Secret of up to a mebibyte and a third, and all of a release are listed at once. */
const MOST_BYTES = 128 * 2 ** 20;

/** @throws CliError when task or secrets cannot be read, or the answer cannot be written: everything else is in the answer */
export async function runAddonWorker(flags: FlagValues, { signal }: CommandContext): Promise<void> {
  const task = readJson(requiredString(flags, "task")) as unknown as AddonTask;
  const secrets = readJson(requiredString(flags, "secrets")) as unknown as AddonSecrets;
  checkKind(task);
  const stop = AbortSignal.any([signal, untilOrphaned()]);
  const folder = mkdtempSync(join(givenString(flags, "scratch-directory") ?? tmpdir(), "addon-"));
  chmodSync(folder, 0o700);
  try {
    const common = {
      async open(text: string) {
        const transport = createHttpsTransport({ ...(await loadKubeconfig({ text })).config, maxAnswerBytes: MOST_BYTES });
        return { client: createKubeClient(transport), close: () => transport.close() };
      },
      clock: systemClock,
      signal: stop,
    };
    const result: AddonResult = isManifestsTask(task)
      ? await runManifests(task, secrets, { ...common, fetch: createManifestFetcher(), timers: systemTimers })
      : await runTask(task, secrets, {
          ...common,
          helm: createHelmBinary(folder, stop, givenString(flags, "helm")),
          scratch: createScratch(folder),
        });
    writeResult(requiredString(flags, "result"), result, "This is a fault of the operator: report it.");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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
