/** One condition type: what it says when true, which kinds carry it, and every reason it can have. */
export interface ConditionEntry {
  /** What is the case when the status is `True`. */
  readonly meaning: string;
  readonly kinds: readonly ConditionKind[];
  readonly reasons: Readonly<Record<string, ReasonEntry>>;
}

/** A kind that carries conditions. */
export type ConditionKind =
  | "KubernetesCluster"
  | "TalosCluster"
  | "TalosControlPlane"
  | "TalosWorker"
  | "TalosMachine"
  | "ClusterRecord"
  | "TalosEtcdBackup"
  | "TalosEtcdBackupSchedule"
  | "EtcdBackup"
  | "TalosClusterAddon"
  | "TalosClusterAddonRelease";

/**
 * What ends a state: `none` = nothing that the spec asks for waits for it, or another condition says what does; `itself` = the operator goes on without a
 * person's word when the machines or other controllers are ready; `person` = only somebody who decides or corrects something.
 */
export type Release = "none" | "itself" | "person";

/** One reason: the status it goes with, when it appears, and what releases it. */
export interface ReasonEntry {
  readonly status: "True" | "False" | "Unknown";
  /** What ends it, for tools: `Reconciling` and `Stalled` are made from it. */
  readonly release: Release;
  /** When it appears, as one sentence. */
  readonly when: string;
  /** What a person can do, or what the operator waits for. `-` where nothing needs to happen. */
  readonly next: string;
}
