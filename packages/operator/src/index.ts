export { createOperator } from "./operator.ts";
export type { Operator, OperatorHealth } from "./operator.ts";
export type { AddonDependencies, BackupDependencies, LeaderElectionOptions, OperatorDependencies, OperatorOptions } from "./options.ts";
export { createJobRunner } from "./backups/job-runner.ts";
export type { JobRunnerOptions } from "./backups/job-runner.ts";
export { readResult } from "./backups/job.ts";
export type { JobSettings } from "./backups/job.ts";
export { BEGINS_WITHIN_MS, runId, runName } from "./backups/runner.ts";
export type { BackupRunner, ListedRun, RunOwner, RunRequest, RunState, RunTask } from "./backups/runner.ts";

export { permissions, policyRuleOf } from "./permissions.ts";
export type { Permission, PermissionFeature, PolicyRule } from "./permissions.ts";

// For tests that replace a rule, and for tools that print decisions.
export { decide, defaultRules } from "./controllers/taloscontrolplane/decide.ts";
export type { Action, Decision, Observed, Rule, Verdict } from "./controllers/taloscontrolplane/model.ts";
export type { ClusterFacts, MachineFact } from "./controllers/taloscontrolplane/record/facts.ts";
export { explain } from "./explaining/explain.ts";
export type { ExplainInput, Explanation, WaitedFor } from "./explaining/explain.ts";
export type { Explained } from "./explaining/what-stands.ts";
export { whatIf } from "./explaining/what-if.ts";
export type { EditedObject, WhatIf, WhatIfPorts } from "./explaining/what-if.ts";
export { printPlan } from "./controllers/taloscontrolplane/planning/print-plan.ts";
export type { Plan, PlanStep, PlannedEffect } from "./controllers/taloscontrolplane/planning/plan.ts";
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
