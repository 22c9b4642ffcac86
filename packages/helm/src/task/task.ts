/**
 * What a worker is asked to do with one Helm release. A worker is a process of its own (a Job, a child process), for Helm and a chart do not fit into the manager's
 * memory. It knows nothing of this operator's objects and holds no right at its API: it gets this text and {@link HelmSecrets}, and answers with a `HelmResult`.
 *
 * Every task may be given again after a worker died anywhere: what is done is found in the cluster, on the release itself.
 */
export type HelmTask = ApplyTask | RollbackTask | UninstallTask | InspectTask | PreviewTask;

interface TaskBase {
  readonly release: ReleaseName;
  /** UID of the object that the release is made for. It stands on the release as a label: nobody else's release is touched. */
  readonly owner: string;
  /** When the worker gives up. Milliseconds from its start; more than the time-out of Helm's own wait. */
  readonly timeoutMs: number;
}

/** In the cluster that the kubeconfig leads to. */
export interface ReleaseName {
  /** At most 53 characters, a DNS label. */
  readonly name: string;
  readonly namespace: string;
}

/**
 * Installs or upgrades, unless the newest revision already came from the same inputs: then nothing is done and that revision is told.
 *
 * A chart without `digest` is resolved and its digest told; with one, an archive that differs is refused.
 */
export interface ApplyTask extends TaskBase {
  readonly kind: "apply";
  readonly chart: ChartRef;
  /**
   * Drift is put right: a revision with these inputs counts as done only when it is newer than this one, and fields that others took over are taken back.
   */
  readonly beyond?: number;
  /** 16 hex digits that stand for all that a revision is made of; a label of the release. */
  readonly inputs: string;
  readonly options: HelmOptions;
  /** Labels that the namespace gets, such as `pod-security.kubernetes.io/enforce`. Others of it stay. */
  readonly namespaceLabels?: Readonly<Record<string, string>>;
  /** `refuse`: a release of this name that bears no label of ours is left alone; `adopt`: it is taken over when its chart has the same name. */
  readonly unowned: "refuse" | "adopt";
  /**
   * Runs of this release that were begun and have ended: a lock (`pending-install`, `pending-upgrade`, `pending-rollback`) that one of them left is released. A lock of
   * anybody else is waited for.
   */
  readonly endedRuns: readonly string[];
  /** This run; a label of the revision that it makes. 12 hex digits. */
  readonly run: string;
  /** After a failed upgrade: back to the newest revision that was deployed. */
  readonly rollbackOnFailure: boolean;
}

/** Back to a revision, as a person asked. */
export interface RollbackTask extends TaskBase {
  readonly kind: "rollback";
  readonly revision: number;
  readonly options: HelmOptions;
  readonly endedRuns: readonly string[];
  readonly run: string;
}

/** Removes the release and what Helm knows of it. Given again, or with nothing there, it is done. */
export interface UninstallTask extends TaskBase {
  readonly kind: "uninstall";
  readonly options: HelmOptions;
  readonly endedRuns: readonly string[];
  readonly run: string;
}

/** Compares what runs with what Helm deployed. Changes nothing, whatever it finds. */
export interface InspectTask extends TaskBase {
  readonly kind: "inspect";
  /** Paths that may differ, with all below them: `spec.replicas`. */
  readonly ignore: readonly string[];
  readonly endedRuns: readonly string[];
  readonly run: string;
}

/** Says what an apply would change. Changes nothing, not even a lock that an ended run left. */
export interface PreviewTask extends TaskBase, Pick<ApplyTask, "chart" | "options" | "unowned"> {
  readonly kind: "preview";
}

export interface ChartRef {
  /** `https://…` of a repository with an index, or `oci://…` of the folder that holds the chart. `http://` only where `allowPlainText`. */
  readonly repository: string;
  readonly name: string;
  /** A version, or a range as Helm reads it. Absent: the newest that is no pre-release. */
  readonly version?: string;
  /** SHA-256 of the archive, 64 hex digits: another archive is refused. */
  readonly digest?: string;
  /** No check of the repository's certificate. */
  readonly insecureSkipTLSVerify?: boolean;
  readonly allowPlainText?: boolean;
}

/** Switches of Helm, by the names of the published field `helmSpec.options`. Absent = Helm's own default, unless a default is named here. */
export interface HelmOptions {
  /** What fails to install is removed, what fails to upgrade goes back to the newest revision that was deployed. Waits, whatever `wait` says. */
  readonly atomic?: boolean;
  readonly dependencyUpdate?: boolean;
  readonly disableHooks?: boolean;
  readonly disableOpenAPIValidation?: boolean;
  readonly skipCRDs?: boolean;
  readonly takeOwnership?: boolean;
  /** Of Helm's own waits and hooks. Milliseconds. Default: 5 minutes. */
  readonly timeoutMs?: number;
  readonly wait?: boolean;
  readonly waitForJobs?: boolean;
  /** Default: true. */
  readonly createNamespace?: boolean;
  /** Revisions that are kept. Default: 10. */
  readonly maxHistory?: number;
  readonly cleanupOnFail?: boolean;
  readonly force?: boolean;
  readonly resetValues?: boolean;
  readonly reuseValues?: boolean;
  readonly resetThenReuseValues?: boolean;
  readonly uninstallDescription?: string;
  readonly keepHistory?: boolean;
}

/** What must not stand in a task. Given as a file that only the worker reads. */
export interface HelmSecrets {
  /** Of the cluster; it outlives {@link TaskBase.timeoutMs}. */
  readonly kubeconfig: string;
  /** YAML documents; a later one wins, as Helm merges them. */
  readonly values: readonly string[];
  /** Places of those of them that stand in Secrets: no text of theirs is told. */
  readonly hidden?: readonly number[];
  readonly repository?: RepositoryAccess;
}

export interface RepositoryAccess {
  readonly username?: string;
  readonly password?: string;
  /** PEM of the CAs that are trusted for the repository. */
  readonly ca?: string;
  /** PEM of a client certificate and its key. */
  readonly certificate?: string;
  readonly key?: string;
}
