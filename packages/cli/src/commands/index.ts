import type { CommandSpec } from "../command.ts";
import { addonWorkerCommand } from "./addon-worker.ts";
import { apiserverCommand } from "./apiserver.ts";
import { backupGetCommand } from "./backup-get.ts";
import { backupInspectCommand } from "./backup-inspect.ts";
import { backupListCommand } from "./backup-list.ts";
import { backupWorkerCommand } from "./backup-worker.ts";
import { configDiffCommand } from "./config-diff.ts";
import { configEffectsCommand } from "./config-effects.ts";
import { configGenerateCommand } from "./config-generate.ts";
import { configPatchCommand } from "./config-patch.ts";
import { configValidateCommand } from "./config-validate.ts";
import { demoCommand } from "./demo.ts";
import { managerCommand } from "./manager.ts";
import { planCommand } from "./plan.ts";
import { schematicIdCommand } from "./schematic-id.ts";
import { secretsFromConfigCommand } from "./secrets-from-config.ts";
import { secretsGenerateCommand } from "./secrets-generate.ts";
import { simulatorCommand } from "./simulator.ts";
import { standaloneCommand } from "./standalone.ts";
import { statusCommand } from "./status.ts";
import { whyCommand } from "./why.ts";

/** Every command, in the order of help. */
export const commands: readonly CommandSpec[] = [
  demoCommand,
  managerCommand,
  standaloneCommand,
  apiserverCommand,
  simulatorCommand,
  statusCommand,
  whyCommand,
  planCommand,
  backupInspectCommand,
  backupGetCommand,
  backupListCommand,
  backupWorkerCommand,
  addonWorkerCommand,
  secretsGenerateCommand,
  secretsFromConfigCommand,
  configGenerateCommand,
  configPatchCommand,
  configValidateCommand,
  configDiffCommand,
  configEffectsCommand,
  schematicIdCommand,
];

/** What the first word of two-word commands stands for. */
export const commandGroups: Readonly<Record<string, string>> = {
  backup: "Backups of etcd.",
  secrets: "The keys of a Talos cluster.",
  config: "Machine configs, without a machine.",
  schematic: "Schematics of the Image Factory.",
};
