import { resolve } from "node:path";
import { systemClock } from "@talos-operator/adapters";
import type { AddonResult, AddonSecrets, AddonTask } from "@talos-operator/helm";
import { addonWorkers, type AddonDependencies } from "@talos-operator/operator";
import type { Logger } from "@talos-operator/ports";
import { booleanFlag, givenString, type FlagValues } from "../command.ts";
import { createHelmPresence } from "./helm-presence.ts";
import { createWorkerChildRunner } from "./worker-child-runner.ts";

/** Addons that child processes of this one install. */
export interface LocalAddons {
  readonly dependencies: AddonDependencies;
  /** Ends the workers; the operator is stopped before. */
  close(): Promise<void>;
}

export interface LocalAddonOptions {
  /** Where runs are kept, its owner's alone. */
  readonly runs: string;
  readonly log: Logger;
}

export function openLocalAddons(flags: FlagValues, { runs, log }: LocalAddonOptions): LocalAddons {
  const given = givenString(flags, "helm");
  const binary = given === undefined ? undefined : resolve(given);
  const [, program = ""] = process.argv;
  const runner = createWorkerChildRunner<AddonTask, AddonSecrets, AddonResult>({
    kind: addonWorkers,
    program: resolve(program),
    folder: runs,
    flags: binary === undefined ? [] : [`--helm=${binary}`],
    log,
  });
  return {
    dependencies: {
      runner,
      allowUnchecked: booleanFlag(flags, "allow-insecure-chart-repositories"),
      helm: createHelmPresence({ binary, path: process.env["PATH"] ?? "", clock: systemClock }),
    },
    close: () => runner.close(),
  };
}
