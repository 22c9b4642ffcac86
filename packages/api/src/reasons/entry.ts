/** One condition type: what it says when true, which kinds carry it, and every reason it can have. */
export interface ConditionEntry {
  /** What is the case when the status is `True`. */
  readonly meaning: string;
  readonly kinds: readonly ConditionKind[];
  readonly reasons: Readonly<Record<string, ReasonEntry>>;
}

/** A kind that carries conditions. */
export type ConditionKind = "KubernetesCluster" | "TalosCluster" | "TalosControlPlane" | "TalosWorker" | "TalosMachine" | "ClusterRecord";

/** One reason: the status it goes with, when it appears, and what releases it. */
export interface ReasonEntry {
  readonly status: "True" | "False" | "Unknown";
  /** When it appears, as one sentence. */
  readonly when: string;
  /** What a person can do, or what the operator waits for. `-` where nothing needs to happen. */
  readonly next: string;
}
