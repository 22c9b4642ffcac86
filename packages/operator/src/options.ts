import type { BackupBounds } from "@talos-operator/api";
import type { OwnPod } from "./model/workload.ts";
import type { MetricsRegistry } from "@talos-operator/kube-runtime";
import type {
  KubeTransport,
  Clock,
  EndpointProbe,
  FileTree,
  Keys,
  Logger,
  NameResolver,
  RandomSource,
  TalosDialer,
  Timers,
  Tracer,
  WorkloadDialer,
} from "@talos-operator/ports";
import type { AddonRunner, HelmPresence } from "./addons/runner.ts";
import type { BackupRunner } from "./backups/runner.ts";
import type { ClusterDefaultOptions } from "./composition/kubernetescluster/defaults.ts";
import type { Rule } from "./model/decision.ts";
import type { ReleasesPlace } from "./references/releases.ts";

/** What an operator is made from. It opens nothing itself: every socket, clock and key comes in here. */
export interface OperatorDependencies {
  readonly kube: KubeTransport;
  readonly talos: TalosDialer;
  /** Looks up machines that are given by name; without it names are refused. */
  readonly names?: NameResolver;
  /** To the Kubernetes APIs of the clusters that are managed: Nodes are drained through it. Without it they are left alone. */
  readonly workloads?: WorkloadDialer;
  /** Asks what answers at the endpoints of the clusters, which decides whether they are ready. Without it nobody asks. */
  readonly endpoints?: EndpointProbe;
  /** Where the manifests of Machines are written for people, before they are applied. Without it none are. */
  readonly files?: FileTree;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: RandomSource;
  readonly keys: Keys;
  readonly log: Logger;
  /** Backups of etcd; without it their controllers are not started. */
  readonly backups?: BackupDependencies;
  /** Addons of clusters; without it their controllers are not started. */
  readonly addons?: AddonDependencies;
  /** Where figures go; without it none are kept. */
  readonly metrics?: MetricsRegistry;
  /** Where spans of passes and effects go; without it nowhere. */
  readonly tracer?: Tracer;
  readonly options?: OperatorOptions;
}

/** What backups need beside the rest. */
export interface BackupDependencies extends BackupBounds {
  /** Starts workers. Default: none, and every backup says so. */
  readonly runner?: BackupRunner;
  /** `--allow-insecure-object-storage`: http, and certificates that nobody checks. Default: false. */
  readonly allowInsecureObjectStorage?: boolean;
  /** Hosts with port for which that holds all the same: the demo's own endpoint. Default: none. */
  readonly insecureHosts?: readonly string[];
  /** `--backup-directory`, where workers find it: `backupStorage.directory` is below it. Default: none, and such a store is refused. */
  readonly backupDirectory?: string;
}

/** What addons need beside the rest. */
export interface AddonDependencies {
  /** Starts workers. Default: none: TalosClusterAddonReleases stay as they are, or say why where {@link AddonDependencies.helm} does. */
  readonly runner?: AddonRunner;
  /** Whether there is a Helm for them. Default: nobody can tell from here, and the worker says. */
  readonly helm?: HelmPresence;
  /** `--allow-insecure-chart-repositories`: repositories whose certificate nobody checks. Default: false. */
  readonly allowUnchecked?: boolean;
  /** Repositories by http, and OCI ones without TLS: the demo's own alone. Default: false. */
  readonly allowPlainText?: boolean;
}

/** Settings; all have defaults that fit a Kubernetes cluster. */
export interface OperatorOptions {
  /** Name of this process in leases, intents and events. Unique. Default: `talos-operator-` and eight random hex digits. */
  readonly identity?: string;
  /** The pod that this process runs in: a cluster that it manages may be the one that it runs in. Default: it runs in none. */
  readonly pod?: OwnPod;
  /** How this process gets the right to act. `false`: it is the only one that ever works on this API, as in a demo. Default: the lease of the published operator in namespace `default`. */
  readonly leaderElection?: LeaderElectionOptions | false;
  /** Watch this namespace alone. Default: all. */
  readonly namespace?: string;
  /** Opens 127/8 and ::1 as machine addresses. Default false. */
  readonly allowLoopbackMachines?: boolean;
  /** Nothing is sent to a machine whose maintenance key nobody vouched for. Default false. */
  readonly requireMaintenanceFingerprint?: boolean;
  /** How long a machine may take to be well with another Talos after it was asked to boot it. Milliseconds. Default 900_000: firmware of large machines takes minutes. */
  readonly upgradeWithinMs?: number;
  /** Registries, or beginnings of image names, that installers may come from: `ghcr.io/siderolabs`. Default: any. */
  readonly installerRegistries?: readonly string[];
  /** The ConfigMap that names further releases of Talos and Kubernetes, to go through on upgrades. Default: none, the built-in ones count. */
  readonly releases?: ReleasesPlace;
  /** Namespaces that `machineRef` may lead to beside that of the object that refers. Default: every namespace. */
  readonly machineRefNamespaces?: readonly string[];
  /** Objects whose conditions are told by name in the metrics; 0 = none. Default 1000. */
  readonly metricsObjects?: number;
  /** Clusters that are worked on at once. Default 16. */
  readonly concurrency?: number;
  /** What KubernetesClusters get that do not say otherwise. Default: the reference release of Talos, with the Kubernetes version that it installs. */
  readonly clusterDefaults?: Omit<ClusterDefaultOptions, "allowLoopback">;
  /** KubernetesClusters that are composed at once. Default 1. */
  readonly maxConcurrentReconciles?: number;
  /** How often a settled KubernetesCluster is looked at. Milliseconds. Default 30_000. */
  readonly resyncMs?: number;
  /** Rules of the brain, most urgent first. Default: {@link defaultRules}. A test replaces one to show that the harness notices. */
  readonly rules?: readonly Rule[];
  /** Told when a pass would have broken an invariant and was held back. What it throws ends the pass, as a test wants it. Default: it is only told to people. */
  readonly onInvariantBroken?: (invariant: string, detail: string) => void;
}

/** The Lease that decides who acts. */
export interface LeaderElectionOptions {
  /** Default `default`; in a cluster, the namespace of the process. */
  readonly namespace?: string;
  /** Default `ffa5cb32.alperen.cloud`, the published one: two operators of these kinds never act at once. */
  readonly name?: string;
  /** Default 15_000. */
  readonly leaseDurationMs?: number;
  /** Default 10_000. */
  readonly renewDeadlineMs?: number;
  /** Default 2_000. */
  readonly retryPeriodMs?: number;
}
