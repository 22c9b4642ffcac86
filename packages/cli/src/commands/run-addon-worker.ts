import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@talos-operator/adapters";
import type { HelmSecrets, HelmTask } from "@talos-operator/helm";
import { createHelmBinary, createScratch } from "@talos-operator/helm/adapters";
import { runTask } from "@talos-operator/helm/worker";
import { createKubeClient } from "@talos-operator/kube-runtime";
import { createHttpsTransport, loadKubeconfig } from "@talos-operator/kube-runtime/https";
import { CliError } from "../cli-error.ts";
import { givenString, requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { readJson, untilOrphaned, writeResult } from "../process/worker-files.ts";

/** @throws CliError when task or secrets cannot be read, or the answer cannot be written: everything else is in the answer */
export async function runAddonWorker(flags: FlagValues, { signal }: CommandContext): Promise<void> {
  const task = readJson(requiredString(flags, "task")) as unknown as HelmTask;
  const secrets = readJson(requiredString(flags, "secrets")) as unknown as HelmSecrets;
  checkKind(task);
  const stop = AbortSignal.any([signal, untilOrphaned()]);
  const folder = mkdtempSync(join(givenString(flags, "scratch-directory") ?? tmpdir(), "addon-"));
  chmodSync(folder, 0o700);
  try {
    const result = await runTask(task, secrets, {
      helm: createHelmBinary(folder, stop, givenString(flags, "helm")),
      scratch: createScratch(folder),
      async open(text) {
        const transport = createHttpsTransport((await loadKubeconfig({ text })).config);
        return { client: createKubeClient(transport), close: () => transport.close() };
      },
      clock: systemClock,
      signal: stop,
    });
    writeResult(requiredString(flags, "result"), result, "This is a fault of the operator: report it.");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function checkKind({ kind, release, owner, timeoutMs }: Partial<HelmTask>): void {
  const isTask =
    ["apply", "uninstall", "rollback", "inspect"].includes(kind ?? "") &&
    release !== undefined &&
    owner !== undefined &&
    Number.isFinite(timeoutMs);
  if (!isTask) throw new CliError("the task is none that this version knows", "Run the worker of the operator's own version.");
}
