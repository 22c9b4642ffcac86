export { createOperator } from "./operator.ts";
export { OPERATOR_MANAGER } from "./neighbours/foreign-writer.ts";
export type { Operator, OperatorHealth } from "./operator.ts";
export type { AddonDependencies, BackupDependencies, LeaderElectionOptions, OperatorDependencies, OperatorOptions } from "./options.ts";
export { createAddonJobRunner } from "./addons/job-runner.ts";
export type { AddonJobRunnerOptions } from "./addons/job-runner.ts";
export { addonWorkers } from "./addons/workers.ts";
export { addonRunId, addonRunName, noWorkersForHelm } from "./addons/runner.ts";
export type { AddonRunner, AddonRunRequest, AddonRunState, HelmPresence } from "./addons/runner.ts";
export { createBackupJobRunner } from "./backups/job-runner.ts";
export type { BackupJobRunnerOptions, BackupJobSettings } from "./backups/job-runner.ts";
export { backupWorkers } from "./backups/workers.ts";
export { runName } from "./backups/runner.ts";
export type { BackupRunner, BackupRunRequest, BackupRunState, RunTask } from "./backups/runner.ts";
export type { JobSettings } from "./workers/job.ts";
export { BEGINS_WITHIN_MS, runId } from "./workers/runner.ts";
export type { ListedRun, RunOwner, RunRequest, RunState, WorkerRunner, WorkerTask } from "./workers/runner.ts";
export type { WorkerKind } from "./workers/worker-kind.ts";

export { permissions, policyRuleOf } from "./permissions.ts";
export type { Permission, PermissionFeature, PolicyRule } from "./permissions.ts";

// For tests that replace a rule, and for tools that print decisions.
export { decide, defaultRules } from "./decide.ts";
export { explain } from "./explaining/explain.ts";
export type { ExplainInput, Explanation, WaitedFor } from "./explaining/explain.ts";
export type { Explained } from "./explaining/what-stands.ts";
export { whatIfAddons } from "./explaining/what-if-addon.ts";
export type { EditedAddon, WhatIfAddon, WhatIfAddonPorts } from "./explaining/what-if-addon.ts";
export { whatIf } from "./explaining/what-if.ts";
export type { EditedObject, WhatIf, WhatIfPorts } from "./explaining/what-if.ts";
export { forecastDrains } from "./planning/drain-forecast.ts";
export type { DrainObjects } from "./planning/drain-forecast.ts";
export { printPlan } from "./planning/print-plan.ts";
export { printExplanation } from "./explaining/print-explanation.ts";
export { readTreeInput } from "./explaining/read-status.ts";
export { findInTrees, statusTrees } from "./explaining/status-tree.ts";
export type { TreeInput, TreeNode, TreeNote } from "./explaining/status-tree.ts";
export { askableKinds, readSubject, resourceOfWord } from "./explaining/subject.ts";
export {
  BackupAccessError,
  controlPlaneOfBackup,
  readBackupAccess,
  readManifestKey,
  readVitistackStorage,
} from "./explaining/backup-access.ts";
export type { BackupAccess, ManifestKey } from "./explaining/backup-access.ts";
export { EffectError, isEffectError } from "./errors.ts";
export type { EffectErrorCode } from "./errors.ts";
export type { Action, PlannedEffect } from "./model/effect.ts";
export type { Decision, Plan, PlanStep, Rule } from "./model/decision.ts";
export type { Observed } from "./model/observation.ts";
export type { ClusterFacts, MachineFact } from "./model/record.ts";
export type { Verdict } from "./model/plans.ts";
