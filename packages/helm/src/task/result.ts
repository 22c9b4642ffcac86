/** What a worker tells in the end, as JSON of at most 4,096 bytes: it must fit into a termination message. Holds no secret. */
export type HelmResult = AppliedResult | RolledBackResult | UninstalledResult | InspectedResult | PreviewedResult | HelmFailed;

export interface AppliedResult {
  readonly kind: "applied";
  readonly revision: Revision;
  readonly chart: ChartFacts;
  /** False when the newest revision already came from these inputs. */
  readonly isNew: boolean;
  /** `adopted`: the release was somebody's without an owner before. */
  readonly adopted?: boolean;
  /** Newest first, at most 10. */
  readonly history: readonly Revision[];
  readonly objects: ObjectCount;
  /** Version of Helm that did it, with `v`. */
  readonly helm: string;
}

export interface RolledBackResult {
  readonly kind: "rolled-back";
  readonly revision: Revision;
  readonly history: readonly Revision[];
  readonly objects: ObjectCount;
  readonly helm: string;
}

export interface UninstalledResult {
  readonly kind: "uninstalled";
  /** False when there was no release of ours. */
  readonly wasThere: boolean;
  readonly helm: string;
}

export interface InspectedResult {
  readonly kind: "inspected";
  /** The newest revision, whose manifest was compared. */
  readonly revision: number;
  /** What is not as Helm deployed it, at most 5. */
  readonly drifted: readonly DriftedObject[];
  readonly total: number;
  readonly helm: string;
}

/** Paths alone: no value of an object leaves the cluster. */
export interface DriftedObject {
  /** `ConfigMap default/web`. */
  readonly object: string;
  readonly isGone: boolean;
  /** At most 4. */
  readonly paths: readonly string[];
  /** Paths that are not named. */
  readonly more?: number;
}

export interface PreviewedResult {
  readonly kind: "previewed";
  readonly chart: ChartFacts;
  /** The newest revision, whose manifest was compared. Absent: nothing is installed. */
  readonly revision?: number;
  /** What would be made, changed and deleted; the first ones, as many as there is room for. */
  readonly changes: readonly ObjectChange[];
  readonly total: number;
  readonly helm: string;
}

/** What would become of one object. No value that stood there before is told, and none of a Secret. */
export interface ObjectChange {
  /** `ConfigMap default/web`. */
  readonly object: string;
  readonly change: "create" | "change" | "delete";
  /** `spec.replicas: 3`, `spec.paused goes`; at most 6. */
  readonly fields: readonly string[];
  /** Fields that are not named. */
  readonly more?: number;
}

export interface Revision {
  readonly number: number;
  /** Helm's word: `deployed`, `superseded`, `failed`, `uninstalled`, `pending-…`. */
  readonly status: string;
  readonly chartVersion: string;
  readonly appVersion?: string;
  /** Milliseconds since the epoch, by Helm. */
  readonly at: number;
  /** Of an `apply` of this operator. */
  readonly inputs?: string;
}

export interface ChartFacts {
  readonly name: string;
  readonly version: string;
  readonly appVersion?: string;
  /** SHA-256 of the archive, 64 hex digits. */
  readonly digest: string;
  /** Constraint of the chart on the Kubernetes version. */
  readonly kubeVersion?: string;
}

/** Of the manifest of a revision. */
export interface ObjectCount {
  readonly total: number;
  /** What runs pods: `Deployment` and its like, whose readiness tells the health of the release. At most 20. */
  readonly workloads: readonly WorkloadRef[];
}

export interface WorkloadRef {
  readonly kind: "Deployment" | "DaemonSet" | "StatefulSet" | "Job";
  readonly namespace: string;
  readonly name: string;
}

export interface HelmFailed {
  readonly kind: "failed";
  readonly reason: HelmFailureReason;
  /** A sentence for people: what is wrong, then what would release it. */
  readonly message: string;
  /** Whether another try may go better without a person. */
  readonly mayRepeat: boolean;
  /** Known when the chart was read. */
  readonly chart?: ChartFacts;
  /** What Helm has by now; absent when it could not be asked. */
  readonly history?: readonly Revision[];
  /** A revision that was deployed again after the failure. */
  readonly rolledBackTo?: number;
  readonly helm?: string;
}

/**
 * - `helm-not-found`: no binary on the PATH, or one that is too old
 * - `cluster-unreachable`: the API of the cluster does not answer; `cluster-refused`: it refuses the kubeconfig
 * - `repository-unreachable`, `repository-refused` (credentials, certificate), `chart-not-found`, `chart-too-large`, `chart-invalid`, `digest-mismatch`
 * - `kubernetes-version`: the chart excludes the version of the cluster
 * - `values-invalid`: Helm or the chart's schema refuses them; `template-failed`: rendering fails or does not end
 * - `release-not-ours`: another owner has it, or nobody and it is not to be adopted; `release-locked`: somebody else is at work on it
 * - `object-not-ours`: an object exists that another release or nobody owns
 * - `not-ready`: installed, and its objects did not get ready in time; `hook-failed`; `api-refused`: an object was refused
 * - `release-too-large`: above what a Secret holds
 * - `bad-task`: input that can never succeed; `timed-out`: the task's time was over; `failed`: Helm failed in words that are not known
 */
export type HelmFailureReason =
  | "helm-not-found"
  | "cluster-unreachable"
  | "cluster-refused"
  | "repository-unreachable"
  | "repository-refused"
  | "chart-not-found"
  | "chart-too-large"
  | "chart-invalid"
  | "digest-mismatch"
  | "kubernetes-version"
  | "values-invalid"
  | "template-failed"
  | "release-not-ours"
  | "release-locked"
  | "object-not-ours"
  | "not-ready"
  | "hook-failed"
  | "api-refused"
  | "release-too-large"
  | "bad-task"
  | "timed-out"
  | "failed";
