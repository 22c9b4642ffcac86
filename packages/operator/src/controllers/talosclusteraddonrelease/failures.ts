import type { ReadyReason } from "@talos-operator/api";
import type { HelmFailed, HelmFailureReason } from "@talos-operator/helm";

/** Why a run did not end well. */
export interface Failure {
  readonly reason: ReadyReason;
  /** For people; without secrets. */
  readonly message: string;
  readonly mayRepeat: boolean;
}

const REASONS: Readonly<Record<HelmFailureReason, ReadyReason>> = {
  "helm-not-found": "HelmNotFound",
  "cluster-unreachable": "ClusterNotReachable",
  "cluster-refused": "KubeconfigFailed",
  "repository-unreachable": "RepositoryUnreachable",
  "repository-refused": "RepositoryRefused",
  "chart-not-found": "ChartNotFound",
  "chart-too-large": "ChartRefused",
  "chart-invalid": "ChartRefused",
  "digest-mismatch": "ChartRefused",
  "kubernetes-version": "KubernetesVersionExcluded",
  "values-invalid": "ValuesRefused",
  "template-failed": "ValuesRefused",
  "release-not-ours": "ReleaseNotOurs",
  "release-locked": "ReleaseLocked",
  "object-not-ours": "HelmInstallFailed",
  "not-ready": "HelmInstallFailed",
  "hook-failed": "HelmInstallFailed",
  "api-refused": "HelmInstallFailed",
  "release-too-large": "HelmInstallFailed",
  "bad-task": "SpecRefused",
  "timed-out": "HelmInstallFailed",
  failed: "HelmInstallFailed",
};

/** What a worker told, as a condition has it. */
export function failureOf({ reason, message, mayRepeat }: HelmFailed): Failure {
  return { reason: REASONS[reason], message: message.slice(0, 1_024), mayRepeat };
}
