import type { HostOptions, TalosControlPlane, TalosWorker } from "@talos-operator/api";
import type { Controller, ObjectKey } from "@talos-operator/kube-runtime";
import type { EndpointProbe, Keys, TalosDialer, WorkloadDialer } from "@talos-operator/ports";
import type { SecretsBundle } from "@talos-operator/talos";
import type { Leading } from "../leading.ts";
import type { Telling } from "../telling/telling.ts";
import type { ControllerPorts, TalosCaches } from "../controllers/shared/controller-ports.ts";
import type { Told } from "../controllers/shared/kstatus.ts";
import type { LatestWords } from "../controllers/shared/latest.ts";
import type { Neighbours } from "../neighbours/neighbours.ts";
import type { ConfigReferences } from "../references/config-references.ts";
import type { References } from "../references/references.ts";
import type { Releases } from "../references/releases.ts";
import type { UnderWay } from "../assess/under-way.ts";
import type { SnapshotCaches } from "../disruption/see-snapshots.ts";
import type { BackupSources, NoSources } from "../assess/backup-sources.ts";
import type { PoolComposition } from "../procedures/compose/pool-composition.ts";
import type { PoolState } from "../report/pool-state.ts";
import type { Look } from "../model/look.ts";
import type { MachineFact, MachinePlace } from "../model/record.ts";
import type { DeclaredMachine } from "../model/machine.ts";
import type { Decision, Plan, Rule } from "../model/decision.ts";
import type { MachineRules } from "../observe/observe-ports.ts";
import type { OwnPod } from "../model/workload.ts";
import type { SentEffect } from "../model/observation.ts";
import type { IdentityKind } from "../model/assessment.ts";
import type { StoppedMachine } from "../model/plans.ts";
import type { UpgradeProgress } from "../report/upgrade-progress.ts";

/** Field manager of the brain. */
export const FIELD_MANAGER = "talos-operator/taloscontrolplane";

/** What the brain needs. */
export interface BrainOptions extends ControllerPorts, TalosCaches {
  readonly dialer: TalosDialer;
  /** To the Kubernetes APIs of the clusters themselves; without it their Nodes are left alone. */
  readonly workloads?: WorkloadDialer;
  /** Asks what answers at the endpoints of the clusters; without it nobody does, and they are taken for reachable. */
  readonly endpoints?: EndpointProbe;
  /** The pod that this process runs in; absent: none. */
  readonly pod?: OwnPod | undefined;
  readonly keys: Keys;
  readonly events: Telling;
  readonly leading: Leading;
  readonly latest: LatestWords;
  readonly hosts: HostOptions;
  readonly references: References;
  readonly configs: ConfigReferences;
  readonly releases: Releases;
  readonly machineRules: MachineRules;
  readonly neighbours: Neighbours;
  /** Machines of the KubernetesCluster that made this control plane which say that its cluster was installed on them. */
  readonly installedOn: (controlPlane: TalosControlPlane) => readonly MachinePlace[];
  /** What a control plane and its pools are composed by: TalosCluster or KubernetesCluster, with their statuses. */
  readonly parentsOf: (controlPlane: TalosControlPlane, pools: readonly TalosWorker[]) => readonly Told[];
  /** Backups and who takes them, for snapshots before control planes are disturbed; without them none is taken. */
  readonly snapshots?: SnapshotCaches;
  readonly rules?: readonly Rule[];
  /** Told of each pass that was held back because it would have broken an invariant. What it throws ends the pass. */
  readonly onInvariantBroken?: (invariant: string, detail: string) => void;
  /** Clusters that are worked on at once. */
  readonly concurrency: number;
  /** Told when a look at a machine says something new. */
  readonly onLook: (machine: ObjectKey, look: Look) => void;
  /** Told when the plan of a TalosCluster that is only tried was made. */
  readonly onPlan?: (cluster: ObjectKey) => void;
  /** Told when the plan of a TalosWorker that is only tried became another. */
  readonly onPoolPlan?: (worker: ObjectKey) => void;
  /** Called when the state of a worker pool, or how far it is composed, became another. */
  readonly onPoolState?: (worker: ObjectKey) => void;
}

/** What the brain knows of one machine. */
export interface KnownMachine {
  /** The newest look, as rules believe it. */
  readonly look: Look;
  /** What the record says. */
  readonly fact: MachineFact | undefined;
  readonly declared: DeclaredMachine | undefined;
  /** Whether its hardware identity is its own; `undefined` before it was written down. */
  readonly identity: IdentityKind | undefined;
  readonly sent: SentEffect | undefined;
  /** Its reset or reboot, from the order until a machine shows that it is over. */
  readonly underWay: UnderWay | undefined;
  /** Why nothing is sent to it, and what would release it. */
  readonly stopped: StoppedMachine | undefined;
  /** Where it stands on its way to another Talos; `undefined` = it is on none. */
  readonly upgrade: UpgradeProgress | undefined;
  readonly hasRecord: boolean;
  /** Nobody can say whether the keys that it was configured with are there. */
  readonly areKeysInDoubt: boolean;
  /** A change of it was begun, and its end was not seen. */
  readonly hasOpenEffect: boolean;
  /** The operator restarts it, and it may still come back in its time. */
  readonly isRestarted: boolean;
}

/** The brain: one work item per cluster; it alone decides and sends to machines. */
export interface Brain {
  readonly controller: Controller;
  /** What is known of a machine: the newest look, and what the record says. */
  machine(key: ObjectKey): KnownMachine | undefined;
  /** Decisions of each cluster's last pass, for people and tests. */
  lastDecision(key: ObjectKey): Decision | undefined;
  /** The plan of a TalosWorker that is only tried while its cluster is not. */
  poolPlan(cluster: ObjectKey, worker: string): Plan | undefined;
  /** What the last pass knew of a worker pool; `undefined` before the first pass. */
  poolState(cluster: ObjectKey, worker: string): PoolState | undefined;
  /** How far the last pass got with the TalosMachines of a worker pool; `undefined` before the first pass. */
  poolComposition(cluster: ObjectKey, worker: string): PoolComposition | undefined;
  /** What a backup of the cluster is taken from; `"not-looked"` before its first pass in this process, `undefined` = it has no etcd yet. */
  backupSourcesOf(cluster: ObjectKey): BackupSources | NoSources | "not-looked" | undefined;
  /**
   * Keys of a cluster without a record, read anew where others leave them; nothing is written. `undefined` where there are none, or not everywhere the same.
   *
   * @throws KubeApiError
   */
  foundBundleOf(cluster: ObjectKey): Promise<SecretsBundle | undefined>;
  /** A snapshot of this cluster has ended: what waited for it goes on. */
  snapshotEnded(cluster: ObjectKey): void;
  /** Decides anew about every cluster: something changed that no watch tells. */
  lookAgain(): void;
  close(): void;
}
