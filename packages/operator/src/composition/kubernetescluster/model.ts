import type {
  ClusterModel,
  ConditionInput,
  Finding,
  InertField,
  KubernetesCluster,
  ResolvedVersion,
  TalosControlPlane,
  TalosMachine,
  TalosWorker,
  VitistackMachine,
} from "@talos-operator/api";

/** Everything that one pass over a KubernetesCluster looks at. */
export interface Seen {
  readonly cluster: KubernetesCluster;
  /** The one internal form of both shapes; `undefined` when something is wrong with the spec. */
  readonly model: ClusterModel | undefined;
  readonly problems: readonly Finding[];
  /** Fields that are set and do nothing. */
  readonly inertFields: readonly InertField[];
  /** Versions that the spec writes short, or not at all, and what they are read as. */
  readonly resolvedVersions: readonly ResolvedVersion[];
  /** How the cluster was written; decides only which words the status uses. */
  readonly shape: "flat" | "nested";
  /** The older cluster of the namespace with the same id, by name. */
  readonly olderTwin: string | undefined;
  /** The older cluster whose control planes hold the same address, as messages of this one may name it. */
  readonly olderHolder?: string | undefined;
  /** Machines that this cluster's UID controls, and no others: labels prove nothing. */
  readonly machines: readonly VitistackMachine[];
  /** Whose a Machine of this name is, when it is not this cluster's; `undefined` = nobody has the name, or the cluster itself. */
  readonly holderOf: (machine: string) => string | undefined;
  /** The control plane of the cluster's name, whoever made it. */
  readonly controlPlane: TalosControlPlane | undefined;
  /** Pools that this cluster's UID controls, and those that have a name it needs. */
  readonly workers: readonly TalosWorker[];
  readonly talosMachines: readonly TalosMachine[];
  /** Names of TalosMachines that hold this cluster's configuration, as its record says; `undefined` = not read, or not readable. */
  readonly holding: ReadonlySet<string> | undefined;
  /** Those of them that were asked and do not answer; absent = not known yet. */
  readonly silent?: ReadonlySet<string>;
  /** What a cluster that goes may have and no cache tells of was asked for by name. */
  readonly isAsked?: true;
  /** Another operator that is at work on a cluster which is not taken over yet, in words. */
  readonly beside?: string;
  /** What the endpoint waits for, in words; `undefined` = it is known, or the address of the first control plane. */
  readonly waitsForEndpoint?: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** A person wants to see the files before anything is made. */
  readonly isPausedAfterFiles: boolean;
}

/** Fields of a Machine that this operator sets; everything else of it is the provider's. */
export type MachineManifest = VitistackMachine;

/** One pool as it should be. */
export type PoolManifest = TalosControlPlane | TalosWorker;

/** What a pass does. Carried out in this order; every step can be repeated. */
export interface Decision {
  readonly addFinalizer: boolean;
  /** Manifests of all Machines as they should be; `undefined` leaves the files as they are. */
  readonly files: readonly MachineManifest[] | undefined;
  /** Machines to make, or to bring to what the spec says. */
  readonly apply: readonly MachineManifest[];
  readonly applyPools: readonly PoolManifest[];
  readonly deletePools: readonly { readonly kind: "TalosControlPlane" | "TalosWorker"; readonly name: string }[];
  /** Machines that the cluster has released: deleted, and no longer held. */
  readonly release: readonly VitistackMachine[];
  /** TalosMachines whose machine is destroyed, as its provider says, and that nobody can wipe any more: given up by name. */
  readonly abandon: readonly string[];
  readonly removeFiles: boolean;
  readonly removeFinalizer: boolean;
  readonly stage: Stage;
  /** Conditions but those that come of carrying out (MachinesCreated, FilesGenerated). */
  readonly conditions: readonly ConditionInput[];
  /** One sentence for the column Message. */
  readonly message: string;
  /** True when the record has to be read before machines can be released. */
  readonly needsRecord: boolean;
  /** True when what no cache tells of has to be asked for by name before anything goes. */
  readonly needsAsking: boolean;
}

/** Where a cluster stands, from which the words of both shapes are derived. */
export type Stage = "pending" | "invalid" | "machines" | "configuring" | "bootstrapping" | "nodes" | "ready" | "failed" | "deleting";
